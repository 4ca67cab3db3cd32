// The pages of the docs, as web/docs.mjs makes them.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {render, target} from '../markdown.mjs';

test('a link between documents leads to a page, a link to another file is text', () => {
  for (const [link, want] of [
    ['../spec.md#record', '../spec#record'],
    ['verify.md', 'verify'],
    ['#draw', '#draw'],
    ['https://c2sp.org/', 'https://c2sp.org/'],
    ['../../openapi.yaml', '../../openapi.yaml'],
    ['../../internal/deck/deck.go', undefined],
    ['../../README.md', undefined],
  ])
    assert.equal(target('guides/shoes', link), want, link);
  const {page} = render('spec', 'See [the code](../internal/deck/deck.go) and [the guide](guides/shoes.md).\n');
  assert.equal(page.body, '<p>See the code and <a href="guides/shoes">the guide</a>.</p>\n');
});

test('a document shows no HTML and runs no script of its own', () => {
  const {page, sections} = render(
    'x',
    '# A <b>title\n\n<script>alert(1)</script>\n\n[x](javascript:alert)\n\n<!-- c -->\ntext of *it*\n',
  );
  assert.doesNotMatch(page.body, /<script|<b>|href|<!--|&lt;!--/);
  assert.equal(sections.length, 1);
  assert.match(sections[0].text, /text of \*it\*/);
});

test('tables are aligned without inline styles, and alerts are named', () => {
  const {page} = render('x', '|a|b|\n|-:|-|\n|1|2|\n\n> [!NOTE]\n> Mind it.\n');
  assert.match(page.body, /<td align="right">1<\/td>\s*<td>2/);
  assert.match(page.body, /<strong>Note<\/strong>/);
});
