import assert from 'node:assert/strict'
import { isFile } from '../../../../src/common/file-links.ts'
import { languageOf } from '../../../../src/webview/markdown/code.ts'
import { markdown } from '../../../../src/webview/markdown/parser.ts'

const html = (text: string) => markdown.render(text).trim()

describe('Markdown', () => {
  it("shows tags that aren't formatting as text", () => {
    assert.equal(
      html('A Vec<String> and <Foo bar="1"> here'),
      '<p>A Vec&lt;String&gt; and &lt;Foo bar=&quot;1&quot;&gt; here</p>',
    )
    assert.equal(html('a<br>b <kbd>F1</kbd>'), '<p>a<br>b <kbd>F1</kbd></p>')
    assert.equal(html('<script>alert(1)</script>'), '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>')
    assert.equal(html('x <!-- note --> y'), '<p>x  y</p>')
  })

  it('allows no tag that looks like a part of Parley', () => {
    assert.equal(html('<b class="permission" style="x" onclick="y">b</b>'), '<p><b>b</b></p>')
    assert.equal(
      html('<details open class="card"><summary>s</summary></details>'),
      '<details open><summary>s</summary></details>',
    )
  })

  it('links URLs, not file names', () => {
    assert.match(html('see https://a.b/c'), /<a href="https:\/\/a\.b\/c">/)
    assert.equal(html('see main.rs, README.md and a@b.c'), '<p>see main.rs, README.md and a@b.c</p>')
    assert.equal(html('[x](javascript:alert(1))'), '<p>[x](javascript:alert(1))</p>')
    assert.match(html('[x](file:///a/b.ts)'), /href="file:\/\/\/a\/b\.ts"/)
    for (const href of [
      'command:x',
      'vscode://a/b',
      'x:y',
      'mailto:a@b.c',
      ' command:x:1',
      'data:text/html,x',
    ])
      assert.equal(html(`[x](${href})`), `<p>[x](${href})</p>`)
    for (const href of [
      'a.ts:12',
      'a.ts:12:3',
      'a.ts:1-2',
      'Makefile:3',
      'b/a.ts#L3',
      '#top',
      'C:/a.ts',
      '../a b',
    ])
      assert.match(html(`[x](<${href}>)`), /^<p><a href=/)
    assert.match(html('[x](C:\\\\a.ts)'), /href="C:%5Ca\.ts"/)
  })

  it('loads nothing remote: a remote image is a link', () => {
    assert.equal(
      html('![alt](https://a.b/c.png)'),
      '<p><a href="https://a.b/c.png" class="image-link">alt</a></p>',
    )
    assert.match(
      html('![alt](data:image/png;base64,AAAA)'),
      /<img src="data:image\/png;base64,AAAA" alt="alt">/,
    )
    assert.doesNotMatch(html('![alt](data:image/svg+xml;base64,AAAA)'), /<img/)
  })

  it('has no style attributes', () => {
    const table = html('|a|b|\n|:-:|--:|\n|1|2|')
    assert.doesNotMatch(table, /style=/)
    assert.match(table, /<th class="align-center">a<\/th>/)
    assert.match(table, /<td class="align-right">2<\/td>/)
  })

  it('links files in inline code', () => {
    assert.match(html('`src/a.ts:12`'), /data-path="src\/a\.ts:12"/)
    assert.doesNotMatch(html('`object.property`'), /<a/)
  })

  it('links files in text, but not words or existing links', () => {
    assert.match(
      html('see src/a.ts:12:3.'),
      /<a class="file-link" href="#" data-path="src\/a\.ts:12:3">src\/a\.ts:12:3<\/a>\./,
    )
    assert.match(html('- **lib/b.py**'), /<strong><a [^>]*data-path="lib\/b\.py">/)
    assert.match(html('at b.go#L10-L20, then'), /data-path="b\.go#L10-L20">b\.go#L10-L20</)
    for (const text of [
      'main.rs and and/or',
      'e.g. this',
      '[src/a.ts](https://x.y)',
      'github.com/a/b.git',
      'v1.2.3',
      'https://x.y/a.ts',
    ])
      assert.doesNotMatch(html(text), /file-link/, text)
  })

  it('distinguishes a file from similar text', () => {
    for (const file of [
      'src/a.ts',
      'a.ts:3:7',
      'file:///x/a%20b.ts#L4',
      'src/Makefile:4',
      '/x/a.ts#L12-L20',
      'C:\\x\\a.ts:4',
      '.github/workflows/ci.yml',
    ])
      assert.equal(isFile(file), true, file)
    for (const other of [
      'a.b',
      'x = a/b.c',
      'https://a.b/c.ts',
      'npm run build',
      'and/or',
      '12:30',
      'f(a/b.ts)',
    ]) {
      assert.equal(isFile(other), false, other)
    }
  })

  it('distinguishes a footnote from similar text', () => {
    const html = markdown.render('Seen[^1], `[^1]`, [^a-z].\n\n[^1]: Said **so**')
    assert.match(html, /Seen<sup class="footnote-mark"><a href="#" data-footnote="1">1<\/a><\/sup>/)
    assert.match(html, /<code>\[\^1\]<\/code>, \[\^a-z\]/)
    assert.match(html, /<div class="footnote" data-footnote="1">.*<p>Said <strong>so<\/strong><\/p>/s)
    assert.doesNotMatch(markdown.render('[^"><b>]: x\n\n[^"><b>]'), /<b>/)
  })

  it('reads the language of a code fence', () => {
    assert.equal(languageOf('ts'), 'ts')
    assert.equal(languageOf('ts title="a"'), 'ts')
    assert.equal(languageOf('{.python}'), 'python')
    assert.equal(languageOf('12:30:src/a.rs'), 'rs')
    assert.equal(languageOf(''), '')
  })
})
