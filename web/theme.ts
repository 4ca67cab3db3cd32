// Sets the theme before anything is drawn, and has the switches of the frame work. It is no module,
// since modules run late.
{
  const root = document.documentElement;
  const stored = () => localStorage.getItem('theme');
  const dark = () => (stored() ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  const apply = () => {
    root.setAttribute('data-theme', dark() ? 'dark' : 'light');
    root.classList.toggle('dark-mode', dark()); // what the viewer of the contract goes by
  };
  apply();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
  document.addEventListener('click', (event) => {
    const {id, lang} = event.target as HTMLElement;
    if (id === 'theme') {
      localStorage.setItem('theme', dark() ? 'light' : 'dark');
      apply();
    } else if (id === 'language') {
      document.cookie = `language=${lang}; path=/; max-age=31536000; samesite=lax`;
      location.reload();
    }
  });
}
