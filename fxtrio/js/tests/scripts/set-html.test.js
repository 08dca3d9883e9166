/** HTML that browsers read as it is written, and that is not, in a `<div>`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { aroundHtml, htmlProblem } from '../../scripts/elements/html.js';
import { withChecks } from '../../scripts/elements/set-html.js';
import { ownReasonsOf, page, prove, tools } from './proving.js';

const UNCHANGED = [
  'a &lt; b',
  '<h2 id="x">A <a href="/x" title="a > b on c">b</a></h2><p>x<br>y<br/></p>',
  '<ul><li>a<ul><li>b</li></ul></li></ul>',
  '<table><thead><tr><th>a</th></tr></thead>\n<tbody>\n<tr><td>x</td></tr></tbody></table>',
  '<!-- a - b --><p>x</p>',
  '<svg viewBox="0 0 1 1"><path d="M0"/><linearGradient id="a"><stop offset=1 /></linearGradient><title>x</title></svg>',
  '<math><mfrac><mi>x</mi><mn>2</mn></mfrac></math>',
  '<iframe src="/a"></iframe>',
  '<details><summary>a</summary><p>x</p></details>',
  '<dl><dt>a</dt><dd>b</dd></dl>',
  '<pre><code class="x"><span class="k">a</span></code></pre>',
  '<input type="checkbox" disabled>',
  '<select><option>a</option></select>',
  '<P CLASS=x>a</P>',
];

const REARRANGED = [
  '<h2>',
  '</div><div>',
  '<b>x',
  '<script>1</script>',
  '<img src=x onerror=a>',
  '<img src=x\nonerror=a>',
  '<p><h2>a</h2></p>',
  '<table><tr><td>x</td></tr></table>',
  '<table>x</table>',
  '<li>a</li>',
  '<a href=a><a href=b>c</a></a>',
  '<a-b></a-b>',
  '<iframe srcdoc="x"></iframe>',
  '<iframe><p>a</p></iframe>',
  '<b/>x',
  'a<',
  '<!DOCTYPE html>',
  '<!--',
  '<!-->x-->',
  '<?php',
  '<plaintext>',
  '<svg><p>a</p></svg>',
  '<svg><foreignObject><p>a</p></foreignObject></svg>',
  '<svg><title><p>a</p></title></svg>',
  '<math><mi><p>a</p></mi></math>',
  '<textarea>a',
  '<style>a</style>',
  '<form><form></form></form>',
  '<select><div>a</div></select>',
  '<image src=a>',
  '</br>',
  '<b title="</b>">a</b>',
  '</p>',
  '<p/',
  '<p a="',
  '<svg/onload=a>',
  '<img/src=x/onerror=a>',
  '<b a=1 a/b>c</b>',
  '<svg><a/></svg></div>',
  '<template>x</template>',
  '<p is=x>a</p>',
  '<![CDATA[a]]>',
  '<svg><![CDATA[a]]></svg>',
  '<noscript><p></noscript>',
  '<!-- a <!-- b --> c -->',
  '<b>a</b\u00a0>',
  '<b\u00a0title="a">a</b>',
  '<b title="a"\vid="b">a</b>',
  '<b title\ufeff=a>a</b>',
  '<table><tbody>\u00a0<tr></tr></tbody></table>',
  '<table>\u2003<tbody></tbody></table>',
];

/** @param {string} html @param {string} [host] */
const set = (html, host = 'div') =>
  page(`<${host} dangerouslySetInnerHTML={{ __html: ${JSON.stringify(html)} }} />`);

for (const html of UNCHANGED) {
  test(`kept: ${html}`, () => assert.deepEqual(ownReasonsOf(set(html)), []));
}

for (const html of REARRANGED) {
  test(`rearranged or run: ${html}`, () => assert.equal(ownReasonsOf(set(html)).length, 1));
}

test('the element that gets HTML, and those around it, count', () => {
  assert.deepEqual(ownReasonsOf(set('<li>a</li>', 'ul')), []);
  assert.deepEqual(ownReasonsOf(set('<path d="a"/>', 'g')), []);
  assert.deepEqual(ownReasonsOf(set('p > b {}', 'style')), []);
  assert.deepEqual(ownReasonsOf(set('<h2>a</h2>', 'p')), ['2: <h2> in <p> in the HTML of <p>']);
  assert.notDeepEqual(ownReasonsOf(set('a</STYLE><p>', 'style')), []);
  for (const css of ["'<b>x</b>'", '`a{}&lt;`', 'data.css']) {
    const style = `<style dangerouslySetInnerHTML={{ __html: ${css} }} />`;
    assert.equal(ownReasonsOf(page(`<svg><g>${style}</g></svg>`)).length, 1);
  }
  assert.notDeepEqual(
    ownReasonsOf(page('<a href="/"><b dangerouslySetInnerHTML={{ __html: `<a>b</a>` }} /></a>')),
    [],
  );
  assert.deepEqual(
    ownReasonsOf(page('<a href="/"><b dangerouslySetInnerHTML={{ __html: data.b }} /></a>')),
    ['2: HTML of <b> in <a>, where it may not be allowed'],
  );
  assert.notDeepEqual(
    ownReasonsOf(page('<b><g dangerouslySetInnerHTML={{ __html: data.b }} /></b>')),
    [],
  );
});

test('HTML with a name that is never written again is followed', () => {
  const named = (/** @type {string} */ html, declared = 'const') =>
    ownReasonsOf(
      `${declared} ICON = ${html};\n${page('<button><b dangerouslySetInnerHTML={{ __html: ICON }} /></button>')}`,
    );

  assert.deepEqual(named("'<svg><path /></svg>'"), []);
  assert.deepEqual(named('`<i>a</i>`'), []);
  assert.equal(named("'<button>a</button>'").length, 1);
  assert.match(named("'<i>a</i>'; ICON = '<b></b>'", 'let').join(), /HTML of <b> in <button>/);
});

test('HTML that components are given is followed like elements', async () => {
  const wraps = 'const Wrap = ({ children }) => <p>{children}</p>;';
  const found = async (/** @type {string} */ html) =>
    (
      await prove(
        {
          'pages/index.fxl': `${wraps}\nexport default ({ data }) => <Wrap><b dangerouslySetInnerHTML={{ __html: ${html} }} /></Wrap>;`,
        },
        ['pages/index.fxl'],
      )
    )[0];

  assert.deepEqual(await found('"<i>a</i>"'), []);
  assert.deepEqual(await found('"<h2>a</h2>"'), [
    'pages/index.fxl:2: <h2> in <p> in the HTML of <b>',
  ]);
  assert.deepEqual(await found('data.html'), [
    'pages/index.fxl:2: HTML of <b> in <p>, where it may not be allowed',
  ]);
});

test('HTML that is known only when a page is rendered is looked at then', () => {
  const code = (/** @type {string} */ html, host = 'p') =>
    `export const A = ({ a }) => <${host} dangerouslySetInnerHTML={${html}} />;`;
  const written = (/** @type {string} */ text) =>
    withChecks(
      text,
      /** @type {any} */ (tools.parse('a.tsx', text, { lang: 'tsx' }).program),
      '/f.js',
    );

  assert.equal(written(code('{ __html: "<b>a" }')), code('{ __html: "<b>a" }'));
  assert.equal(written(code('a', 'Comp')), code('a', 'Comp'));
  assert.equal(
    written(code('a as Html')),
    `${code('__fx_checked(a as Html, "p")')}\nimport { checked as __fx_checked } from "/f.js";`,
  );
});

test('an only child that is to be one text is looked at when it is rendered', () => {
  const written = (/** @type {string} */ text) =>
    withChecks(
      text,
      /** @type {any} */ (tools.parse('a.tsx', text, { lang: 'tsx' }).program),
      '/f.js',
    ).split('\nimport')[0];

  for (const same of [
    '<pre>a</pre>',
    '<pre>{`a${b}`}</pre>',
    '<pre>a{b}</pre>',
    '<p>{a}</p>',
    '<pre>{/* a */}</pre>',
    '<pre />',
  ]) {
    assert.equal(written(same), same);
  }
  assert.equal(written('<pre>\n{a.b}\n</pre>'), '<pre>\n{__fx_oneText(a.b, "pre")}\n</pre>');
  assert.equal(written('<style children={a} />'), '<style children={__fx_oneText(a, "style")} />');
  assert.equal(
    written('<pre>{a && <b dangerouslySetInnerHTML={c} />}</pre>'),
    '<pre>{__fx_oneText(a && <b dangerouslySetInnerHTML={__fx_checked(c, "b")} />, "pre")}</pre>',
  );
});

test('HTML in itself takes no time that grows with its square', () => {
  for (const part of ['a ', 'a="b" ', ' ', '<!-', '-', 'a']) {
    assert.notEqual(htmlProblem(`<p ${part.repeat(30_000)}`, aroundHtml('div')), '');
  }
});
