import assert from 'node:assert/strict'
import { JSDOM } from 'jsdom'
import { toMarkdown } from '../../../../src/webview/markdown/copy.ts'
import { markdown } from '../../../../src/webview/markdown/parser.ts'

describe('a copied selection', () => {
  const { window } = new JSDOM('')
  const names = ['Element', 'Text', 'HTMLElement'] as const
  const kept = new Map<string, unknown>()
  before(() => {
    for (const name of names) {
      kept.set(name, Reflect.get(globalThis, name))
      Reflect.set(globalThis, name, window[name])
    }
  })
  after(() => {
    for (const [name, value] of kept) Reflect.set(globalThis, name, value)
  })

  const again = (text: string) => {
    const root = window.document.createElement('div')
    root.innerHTML = markdown.render(text)
    return toMarkdown(root)
  }

  for (const [name, text] of Object.entries({
    'paragraphs with emphasis':
      'One **bold** and *slanted* and `code`.\n\nTwo [link](https://a.b/c), https://x.y/z.',
    headings: '# One\n\n### Three\n\ntext',
    lists: '- a\n- b\n  - c\n  - d\n- e\n\n3. three\n4. four',
    tasks: '- [x] done\n- [ ] open',
    code: 'Look:\n\n```ts\nconst a = 1\n\nconst b = 2\n```\n\nend',
    'code with backticks in it': '````md\n```\nx\n```\n````',
    tables: '| a | b |\n| --- | --- |\n| 1 | **2** |',
    'tables with aligned columns': '| a | b | c |\n| :-- | :-: | --: |\n| 1 | 2 | 3 |',
    quotes: '> one\n>\n> two',
    formulas: 'Let $x^2$ be\n\n$$\\pi$$\n\nand $$y$$ so',
    diagrams: '```mermaid\ngraph TD\n  A-->B\n```',
    footnotes: 'One[^1] and two[^why].\n\n[^1]: First\n\n[^why]: Because\n\n    it is so',
    'names of files': 'see src/a.ts:12 and `b.ts:3`',
  }))
    it(`returns ${name} as Markdown`, () => assert.equal(again(text), text))

  it('leaves out buttons', () => {
    assert.doesNotMatch(again('```ts\nx\n```\n![a](data:image/png;base64,AAAA)'), /Copy|Apply|larger/)
  })
})
