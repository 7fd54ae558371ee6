import assert from 'node:assert/strict'
import fc from 'fast-check'
import { fenceInfo } from '../../../../src/webview/markdown/fence-info.ts'
import { markdown } from '../../../../src/webview/markdown/parser.ts'
import { packSource, sourceOf } from '../../../../src/webview/rich/rich-source.ts'

describe('the info string of a fence', () => {
  const cases: Array<[string, ReturnType<typeof fenceInfo>]> = [
    ['', { language: '' }],
    ['ts', { language: 'ts' }],
    ['{.python}', { language: 'python' }],
    ['ts src/a.ts', { language: 'ts', path: 'src/a.ts' }],
    ['ts:src/a.ts', { language: 'ts', path: 'src/a.ts' }],
    ['src/a/b.rs', { language: 'rs', path: 'src/a/b.rs' }],
    ['12:30:src/a.go', { language: 'go', path: 'src/a.go', from: 12, to: 30 }],
    ['js title="a b.js" {1,3}', { language: 'js', path: 'a b.js' }],
    ['python filename=main.py', { language: 'python', path: 'main.py' }],
    ['js {1,3-5}', { language: 'js' }],
    ['js showLineNumbers', { language: 'js' }],
    ['c++', { language: 'c++' }],
    ['objective-c', { language: 'objective-c' }],
  ]
  for (const [info, expected] of cases)
    it(JSON.stringify(info), () => assert.deepEqual(fenceInfo(info), expected))
})

describe('formulas and diagrams', () => {
  const html = (text: string) => markdown.render(text)
  const formulas = (text: string) =>
    [...html(text).matchAll(/class="(math[^"]*)" data-rich="math" data-source="([^"]*)"/g)].map(
      ([, kind, source]) => `${kind === 'math' ? '' : 'display '}${decodeURIComponent(source!)}`,
    )

  it('are found in every notation', () => {
    assert.deepEqual(formulas('a $x^2$, \\(y\\) and $$z$$'), ['x^2', 'y', 'display z'])
    assert.deepEqual(formulas('text\n$$\na\n+ b\n$$\nmore'), ['display a\n+ b'])
    assert.deepEqual(formulas('\\[\na = b\n\\]'), ['display a = b'])
    assert.deepEqual(formulas('```math\n\\pi\n```'), ['display \\pi'])
    assert.deepEqual(formulas('- $$\n  x\n  $$\n\n> $a$'), ['display x', 'a'])
  })

  it("aren't found in prices, variables, code and escaped brackets", () => {
    for (const text of [
      'It costs $5 and $10.',
      'from $5-$10',
      '$HOME/bin:$PATH',
      'US$ 5 and CA$ 6',
      'between $5 and 10 dollars$ or so',
      '`$x$`',
      '\\$x$',
      '\\[text\\](address)',
      '\\[1\\] is a note',
      '\\(maybe\\)',
      '$$$ expensive $$$',
      '```\n$$\nx\n$$\n```',
    ])
      assert.deepEqual(formulas(text), [], text)
  })

  it('wait for the end of their fence', () => {
    assert.doesNotMatch(html('```mermaid\ngraph TD\n'), /data-rich/)
    assert.match(html('```mermaid\ngraph TD\n```'), /data-rich="mermaid"/)
    assert.match(html('~~~~mermaid\ngraph TD\n~~~~~'), /data-rich="mermaid"/)
    assert.doesNotMatch(html('```mermaid\n```'), /data-rich/)
    assert.doesNotMatch(html(`\`\`\`mermaid\n${'x'.repeat(30_000)}\n\`\`\``), /data-rich/)
  })

  it('keep their source, whatever it contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        const packed = packSource(text)
        assert.match(packed, /^[\w.!~*'()%-]*$/)
        assert.equal(sourceOf({ dataset: { source: packed } } as unknown as HTMLElement), text)
      }),
    )
  })
})
