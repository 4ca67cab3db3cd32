// Markdown as the docs have it, made into HTML that a page can show.
import {posix} from 'node:path';
import markdownIt from 'markdown-it';

const markdown = markdownIt({linkify: true}); // HTML in Markdown becomes text
markdown.linkify.set({fuzzyLink: false, fuzzyEmail: false});
const mark = /^> \[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]$/gm; // GitHub's, of a note or a warning
const comment = /^<!--.*-->\n/gm;

/** plain makes text of HTML's own characters. */
export const {escapeHtml: plain} = markdown.utils;

/** slug is a heading's anchor, as GitHub makes it. */
const slug = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** target is the page for a link in the document of a place below /docs/, or undefined for other files. */
export function target(place, link) {
  const [name, anchor] = link.split('#'),
    to = posix.join('docs', posix.dirname(place), name);
  if (name === '' || name.includes('://') || to === 'openapi.yaml') return link;
  if (!name.endsWith('.md') || !to.startsWith('docs/')) return undefined;
  return name.slice(0, -3) + (anchor ? `#${anchor}` : '');
}

/** render makes a page of a document, and the sections that a search finds in it. */
export function render(place, source) {
  const text = source
      .replace(comment, '')
      .replace(mark, (_, kind) => `> **${kind[0]}${kind.slice(1).toLowerCase()}**\n>`),
    tokens = markdown.parse(text, {}),
    lines = text.split('\n'),
    sections = [],
    taken = new Map();
  let title = place;
  tokens.forEach((token, i) => {
    if (token.type === 'heading_open') {
      const heading = tokens[i + 1].content,
        anchor = slug(heading),
        count = taken.get(anchor) ?? 0;
      taken.set(anchor, count + 1);
      token.attrSet('id', count > 0 ? `${anchor}-${count}` : anchor);
      if (token.tag === 'h1') title = heading;
      sections.push({path: `${posix.join('/docs', place)}#${token.attrGet('id')}`, title, heading, text: ''});
    } else if (token.level === 0 && token.map && token.nesting >= 0 && sections.length > 0) {
      const last = sections.at(-1);
      last.text = `${last.text} ${lines
        .slice(...token.map)
        .join('\n')
        .trim()}`.trim();
    }
    // The policy of pages forbids inline styles.
    const style = token.attrGet('style');
    if (style) token.attrs = [['align', style.replace('text-align:', '')]];
    if (token.children) token.children = withoutDeadLinks(place, token.children);
  });
  const language = place.endsWith('-zh') ? 'zh' : 'en';
  return {page: {title, language, body: markdown.renderer.render(tokens, markdown.options, {})}, sections};
}

/** withoutDeadLinks leads links to pages. A link to any other file of the project becomes text. */
function withoutDeadLinks(place, tokens) {
  const open = [];
  return tokens.filter((token) => {
    if (token.type === 'link_open') {
      const to = target(place, token.attrGet('href'));
      if (to !== undefined) token.attrSet('href', to);
      open.push(to !== undefined);
      return to !== undefined;
    }
    return token.type !== 'link_close' || open.pop();
  });
}
