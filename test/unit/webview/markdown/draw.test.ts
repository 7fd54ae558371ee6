import assert from 'node:assert/strict'
import * as esbuild from 'esbuild'
import fc from 'fast-check'
import { type DOMWindow, JSDOM } from 'jsdom'
import type { isPlain, MarkdownDocument } from '../../../../src/webview/markdown/document.ts'
import type { drawBlock } from '../../../../src/webview/markdown/draw.ts'
import { scaledRuns } from '../../../support/property-tests.ts'
import { until } from '../../../support/until.ts'

interface Bundle {
  MarkdownDocument: typeof MarkdownDocument
  isPlain: typeof isPlain
  drawBlock: typeof drawBlock
}

describe('drawing a growing text', () => {
  let window: DOMWindow
  let parts: Bundle

  before(async () => {
    const contents = `
      export { isPlain, MarkdownDocument } from './src/webview/markdown/document.ts'
      export { drawBlock } from './src/webview/markdown/draw.ts'`
    const { outputFiles } = await esbuild.build({
      stdin: { contents, resolveDir: '.' },
      bundle: true,
      write: false,
      format: 'iife',
      globalName: 'parts',
      platform: 'browser',
      loader: { '.css': 'empty', '.ttf': 'empty', '.woff2': 'empty' },
    })
    window = new JSDOM('', { runScripts: 'outside-only', pretendToBeVisual: true }).window
    window.eval(`${outputFiles[0]!.text};window.parts = parts`)
    parts = window.parts as Bundle
  })
  // the page's timers would keep the process alive
  after(() => window.close())

  /** Draws the changes after each piece, like the rows of a view. */
  class View {
    readonly document = new parts.MarkdownDocument()
    readonly elements: HTMLElement[] = []

    feed(text: string): void {
      this.document.append(text)
      this.document.flush()
      const { blocks } = this.document
      for (let i = this.elements.length; i < blocks.length; i++)
        this.elements.push(window.document.createElement('div'))
      this.elements.length = blocks.length
      for (const [i, element] of this.elements.entries()) parts.drawBlock(element, this.document, i)
    }

    /** What is visible in the page: adjacent text nodes count as one. */
    get html(): string {
      for (const element of this.elements) element.normalize()
      for (const element of this.elements) sortAttributes(element)
      return this.elements.map(element => element.innerHTML).join('')
    }
  }
  function whole(text: string): string {
    const view = new View()
    view.feed(text)
    return view.html
  }

  /** Sorts attributes, since their order doesn't matter. */
  function sortAttributes(root: HTMLElement): void {
    for (const link of root.querySelectorAll('a')) {
      const attributes = [...link.attributes].sort((a, b) => (a.name < b.name ? -1 : 1))
      for (const { name, value } of attributes) {
        link.removeAttribute(name)
        link.setAttribute(name, value)
      }
    }
  }

  const fragments = fc.constantFrom(
    ...[
      'word',
      ' ',
      ' and',
      'more ',
      '. ',
      ', then',
      '  ',
      '12',
      ': ',
      'fin.',
      'Wörter',
      '。',
      '!',
      ' (so)',
      "it's",
    ],
    ...[
      '\n',
      '\n\n',
      '- ',
      '\n- ',
      '\n1. ',
      '> ',
      '\n> ',
      '## ',
      '\n| a | b\n|---|---\n| ',
      ' | ',
      '\n\n    ',
      '\n  ',
    ],
    ...[
      '**',
      '*',
      '`',
      '_',
      '[',
      ']',
      '](',
      ')',
      '<b>',
      '&amp',
      ';',
      '\\',
      'https://a.b',
      '/x',
      '$',
      '\n\n```\n',
      '~~',
    ],
    ...['src/a.ts', ':12', 'a', '.ts', '.go:3', 'ts:4', '.', '[ ] ', '\n===', '\n---'],
  )

  it('shows the same whatever the pieces', () => {
    fc.assert(
      // redrawing the whole text for every piece is slow
      fc.property(fc.array(fragments, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (list, each) => {
        const view = new View()
        let so = ''
        for (const [index, piece] of list.entries()) {
          view.feed(piece)
          so += piece
          if (index % each !== 0 && index < list.length - 1) continue
          assert.equal(view.html, whole(so), JSON.stringify(so))
        }
      }),
      { numRuns: scaledRuns(100) },
    )
  })

  it('links a file as soon as its line is there', () => {
    for (const pieces of [
      ['See Makefile', ':', '3'],
      ['See Makefile', '(3', ')'],
      ['See /w/my', ' dir', '/a.ts', ':3'],
    ]) {
      const view = new View()
      for (const piece of pieces) view.feed(piece)
      assert.match(view.html, /file-link/, pieces.join(''))
      assert.equal(view.html, whole(pieces.join('')))
    }
  })

  it('appends to a line in any block without drawing the rest again', () => {
    const prose = ' goes on, and on; so it is.'
    for (const begin of [
      'It',
      '- item\n- It',
      '1. It',
      '> It',
      '# It',
      '| a | b |\n|---|---|\n| x | It',
      '- a\n  - It',
    ])
      for (const before of ['', '**Bold** and `code`.\n\n']) {
        const view = new View()
        view.feed(before + begin)
        const element = view.elements.at(-1)!
        const changes = new window.MutationObserver(() => {})
        changes.observe(element, { subtree: true, childList: true, characterData: true, attributes: true })
        for (let i = 0; i < 50; i++) view.feed(prose)
        const records = changes.takeRecords()
        assert.deepEqual([...new Set(records.map(({ type }) => type))], ['characterData'], begin)
        assert.equal(records.length, 50)
        assert.equal(view.html, whole(before + begin + prose.repeat(50)))
      }
  })

  it('colors long code step by step after drawing it, except selected code', async () => {
    const code = Array.from({ length: 1500 }, (_, i) => `const value${i} = ${i}`).join('\n')
    const view = new View()
    view.feed(`\`\`\`ts\n${code}\n\`\`\``)
    const [block] = view.elements
    window.document.body.append(block!)
    const pieces = () => [...block!.querySelectorAll('.code-piece')]
    const colored = () => pieces().filter(piece => piece.querySelector('.hljs-keyword'))
    assert.ok(pieces().length > 5)
    assert.ok(pieces().every(piece => piece.textContent!.length < 6000))
    assert.equal(colored().length, 0)
    // loads the grammar, and draws the block with it
    const selected = pieces()[2]!
    window.getSelection()!.selectAllChildren(selected)
    await until(() => {
      parts.drawBlock(block!, view.document, 0)
      return colored().length > 0
    })
    assert.ok(colored().length < pieces().length, 'not all in one go')
    await until(() => colored().length === pieces().length - 1)
    assert.ok(!selected.querySelector('span'))
    assert.equal(block!.querySelector('code')?.textContent, code)
  })

  it('leaves only HTML unsanitized that has no attributes and no other elements than those of simple prose', () => {
    const tags = 'p strong em code ul ol li h1 br hr a img svg math style table script plaintext p/ h7'.split(
      ' ',
    )
    const piece = fc.oneof(
      fc.constantFrom(...tags).map(tag => `<${tag}>`),
      fc.constantFrom(...tags).map(tag => `</${tag}>`),
      fc.constantFrom(
        ...'<>&"\'=/! ',
        '&lt;',
        '&#60;script>',
        '<!--',
        '-->',
        '<p onclick=x>',
        '<P>',
        '\0',
        'text',
      ),
    )
    const simple = new Set('P STRONG EM CODE UL OL LI H1 BR HR'.split(' '))
    let count = 0
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), pieces => {
        const html = pieces.join('')
        if (!parts.isPlain(html)) return
        count++
        const element = window.document.createElement('div')
        element.innerHTML = html
        for (const one of element.querySelectorAll('*'))
          assert.ok(simple.has(one.tagName) && one.attributes.length === 0, one.outerHTML)
        const walker = window.document.createNodeIterator(element, window.NodeFilter.SHOW_COMMENT)
        assert.equal(walker.nextNode(), null)
      }),
    )
    assert.ok(count > 40, `${count} were plain`)
  })

  it('draws only the new code of a long fence, even if nothing follows it', () => {
    const view = new View()
    view.feed('```\n')
    let code = ''
    for (let i = 0; i < 400; i++) {
      view.feed(`a line of code ${i}\n`)
      code += `a line of code ${i}\n`
    }
    view.feed('```')
    assert.equal(view.elements[0]!.querySelector('code')?.textContent, code.trimEnd())
  })
})
