import assert from 'node:assert/strict'
import fc from 'fast-check'
import { BlockStream } from '../../../../src/webview/markdown/blocks.ts'
import { markdown } from '../../../../src/webview/markdown/parser.ts'

/** A view: the HTML of every block, redrawn only when the stream requires it. */
class View {
  readonly stream = new BlockStream()
  readonly drawn: string[] = []

  feed(text: string): void {
    this.stream.append(text)
    for (const index of this.stream.flush().changed) {
      const block = this.stream.blocks[index]
      if (block) this.drawn[index] = this.stream.html(block)
    }
    this.drawn.length = this.stream.blocks.length
  }

  get html(): string {
    return this.drawn.join('')
  }
}

function feed(text: string): View {
  const view = new View()
  view.feed(text)
  return view
}

function whole(text: string): string {
  return markdown.render(text)
}

/** Splits the text into pieces of the given lengths, which repeat until its end. */
function pieces(text: string, lengths: readonly number[]): string[] {
  const list: string[] = []
  for (let at = 0, i = 0; at < text.length; i++) {
    const length = lengths[i % lengths.length]!
    list.push(text.slice(at, at + length))
    at += length
  }
  return list
}

const samples: Record<string, string> = {
  paragraphs: 'One.\nStill one.\n\nTwo with **bold** and `code`.\n\n\nThree.',
  fences:
    'Before\n```ts\nconst a = 1\n\n```\nafter\n~~~~\n```\n~~~\n~~~~\nend\n```js\nnever closed\n\n# not a heading',
  'a fence that seems to close': '```\na\n```x\nb\n````\nafter\n\nmore',
  lists:
    '- a\n- b\n\n  more of b\n\n- c\n\n\nafter\n1. x\n2. y\n   - z\n\n   ```\n   code\n   ```\n3. end\n\n10) ten',
  tables: 'intro\na | b\n--|:-:\n1 | 2\n3 | 4\n\nafter | not\na table\n\n| x |\n|---|\n| y |\ntext',
  'setext headings': 'Title\n===\ntext\nmore\n---\n\n---\npara\n- item\n-\n--\n',
  'html blocks':
    '<details>\n<summary>s</summary>\n\n*in*\n\n</details>\n\n<!-- a\n\nb --> tail\n\n<pre>\n\nx\n</pre>\ny\n\n<b>t</b>\nrest\n',
  'link definitions':
    'See [a] and [b][c].\n\nMore [a].\n\n[a]: /first\n[a]: /second\n\n> [c]: /quoted "t"\n\nEnd [c], [d].\n\n[d]:\n/next\n\'title\nlonger\'\n\ndone [D]',
  quotes: '> one\nlazy\n> two\n\n> new\n>> deep\n\ntext\n> interrupts',
  'indented code': '    code\n\n    still\ntext\n    not code\n\n\tcode\n\n',
  'line ends': 'a\r\nb\r\n\r\nc\rd\r\r```\r\nx\r\n```\r\n',
  tasks: '- [ ] a\n- [x] b\n- [x]c\n\n* [X] d',
  formulas:
    'Let $x^2$ be\n$$\n\\frac{a}{b}\n\n$$\nand\n$$\na\n- b\n$$\nthen \\(y\\).\n\\[\n1+1\n\\]\n- $$\n  z\n  $$\n- w\n> $$\n> q\ntext $$x$$ end\n$$ one line $$\n$5 and $10',
  'formulas and diagrams in fences':
    'a\n```math\n\\pi\n```\nb\n~~~mermaid\ngraph TD\n  A-->B\n~~~\nc\n```mermaid\nopen\n``\n',
  folds:
    'Before\n\n<details>\n<summary>s</summary>\n\n*in*\n\n- a\n\n<details><summary>t</summary>\n\n```js\n</details>\n```\n\n</details>\n\nmore\n\n</details>\n\nAfter\n\n</details>\n\nend\n\n<details open>\n\nnever closed',
  footnotes:
    'One[^1] and two[^why], [^a-z] and [t][^1].\n\n[^1]: First\ngoes on\n[^why]: Because\n\n    and more\n\ntext[^1]\n\n> q[^q]\n\n[^q]:\n\n- a\n[^x]: not one\n\nend',
  'tags that are text':
    'Use Vec<String> and <Foo> or <br> and <b class="codicon">x</b> <script>alert(1)</script>\n\n<Foo>\nblock\n',
}

describe('markdown blocks', () => {
  it('keep nested content in one block', () => {
    const { stream } = feed(
      'One\n\n<details><summary>s</summary>\n\nTwo\n\n- three\n\n</details>\n\nFour\n\nFive',
    )
    assert.deepEqual(
      stream.blocks.map(block => block.type),
      ['paragraph', 'html_block', 'paragraph', 'paragraph'],
    )
  })

  for (const [name, text] of Object.entries(samples)) {
    it(`stream ${name} to the same HTML as the whole`, () => {
      for (const lengths of [[1], [2], [3, 1], [7], [text.length], [1, 40]]) {
        const view = new View()
        let so = ''
        for (const piece of pieces(text, lengths)) {
          view.feed(piece)
          so += piece
          if (!so.endsWith('\r')) assert.equal(view.html, whole(so), JSON.stringify(so))
        }
      }
    })
  }

  const fragments = fc.constantFrom(
    ...['src/a', 'a.ts', 'ts', ':12', '.', '#L3', 'b.go:7'],
    ...[
      'word',
      ' ',
      '\n',
      '\n\n',
      '- ',
      '1. ',
      '> ',
      '#',
      '## h',
      '```',
      '~~~',
      '```ts\n',
      '---',
      '===',
      '|',
      'a|b\n',
    ],
    ...[
      '-|-\n',
      '    ',
      '\t',
      '<div>',
      '</div>',
      '<!--',
      '-->',
      '[a]',
      '[a]: /u\n',
      "'t'",
      '[b][a]',
      '![a]',
      '`',
      '**',
    ],
    ...[
      '$',
      '$$',
      '$$\n',
      '$x$',
      '\\(',
      '\\)',
      '\\[\n',
      '\\]\n',
      'a=b',
      '```math\n',
      '```mermaid\n',
      '```\n',
    ],
    ...['\r\n', '\r', '\\', '[ ] ', '* ', '+ ', '   ', '<x', '>', 'https://a.b', '&amp;', '\u0000', '😀'],
  )
  const text = fc.array(fragments, { maxLength: 60 }).map(list => list.join(''))
  const chunking = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 })

  it('stream any text in any pieces to the same HTML as the whole', () => {
    fc.assert(
      fc.property(text, chunking, (value, lengths) => {
        const view = new View()
        for (const piece of pieces(value, lengths)) view.feed(piece)
        assert.equal(view.html, whole(value.replace(/\r$/, '')))
      }),
    )
  })

  it('never change a closed block, except with a link definition', () => {
    fc.assert(
      fc.property(text, chunking, (value, lengths) => {
        const stream = new BlockStream()
        const closed: string[] = []
        for (const piece of pieces(value.replaceAll(':', ''), lengths)) {
          stream.append(piece)
          const { changed } = stream.flush()
          for (const index of changed) assert.ok(index >= closed.length, 'a closed block changed')
          for (const block of stream.blocks) {
            if (!block.closed) break
            closed[block.index] ??= block.source
            assert.equal(block.source, closed[block.index])
          }
        }
      }),
    )
  })

  it('parse only the open end', () => {
    const stream = new BlockStream()
    let most = 0
    for (let i = 0; i < 2000; i++) {
      stream.append(`Paragraph ${i} of some words.\n\n`)
      stream.flush()
      most = Math.max(most, stream.pendingCost)
    }
    assert.equal(stream.blocks.length, 2000)
    assert.ok(most < 100, `${most} characters`)
  })

  it('split very long content in the same places, whatever the pieces', () => {
    const sentence = 'Words without an end, '
    const longOnes: Record<string, string> = {
      'a line': sentence.repeat(8000),
      'a paragraph': `${sentence.repeat(9)}\n`.repeat(900),
      'a list': `intro\n\n${'- item of a list\n  with two lines\n'.repeat(4000)}\nend`,
      'a heading': `${sentence.repeat(2000)}\n===\nafter`,
      'a quote': `> ${sentence.repeat(4)}\n`.repeat(900),
      'indented code': `    ${sentence.repeat(4)}\n`.repeat(900),
      'a block of HTML': `<div>\n${`${sentence.repeat(4)}\n`.repeat(900)}</div>`,
      'no spaces': `${'😀'.repeat(40_000)}\n\nend`,
    }
    for (const [name, value] of Object.entries(longOnes)) {
      const sources = (lengths: number[]) => {
        const stream = new BlockStream()
        for (const piece of pieces(value, lengths)) {
          stream.append(piece)
          stream.flush()
        }
        const cut = stream.blocks.map(block => block.source)
        assert.equal(cut.join(''), value, name)
        assert.ok(stream.pendingCost <= 16_384, `${name}: ${stream.pendingCost} characters stay open`)
        return cut
      }
      const whole = sources([value.length])
      assert.ok(whole.length > 1, name)
      assert.deepEqual(sources([997]), whole, name)
      assert.deepEqual(sources([4096, 1, 20_000]), whole, name)
    }
  })

  it('parse a long text in short slices with the same result', () => {
    const code = `const a = 1\n`.repeat(10_000)
    const texts = [
      `Before.\n\n\`\`\`ts\n${code}\`\`\`\n\nAfter.`,
      `- item\n\n  \`\`\`ts\n${code.replace(/^/gm, '  ')}  \`\`\`\n\nAfter.`,
      `<details>\n\n${'Some prose.\n\n'.repeat(6000)}</details>\n\nAfter.`,
      '`'.repeat(100_000),
      'word '.repeat(20_000),
    ]
    for (const text of texts) {
      const once = feed(text).stream
      const sliced = new BlockStream()
      sliced.append(text)
      let slices = 1
      while (sliced.flush(0).pending) assert.ok(slices++ < 1000)
      assert.ok(slices > 1)
      assert.deepEqual(
        sliced.blocks.map(({ type, source }) => [type, source]),
        once.blocks.map(({ type, source }) => [type, source]),
      )
      assert.ok(once.blocks.every(({ type, source }) => type === 'fence' || source.length <= 66_000))
    }
  })

  it('split a long table between rows, and repeat its header', () => {
    const head = '| a | b |\n|---|---|\n'
    const rows = Array.from({ length: 2000 }, (_, i) => `| row ${i} | of a table |\n`)
    const view = new View()
    for (const piece of pieces(head + rows.join(''), [997])) view.feed(piece)
    const { blocks } = view.stream
    assert.ok(blocks.length > 2 && view.stream.pendingCost <= 16_384)
    assert.deepEqual([...new Set(blocks.map(({ type }) => type))], ['table'])
    assert.equal(blocks.map(({ source }) => source.slice(head.length)).join(''), rows.join(''))
    assert.ok(blocks.every(({ source }) => source.startsWith(head)))
  })

  it("don't parse a line again when it grows", () => {
    for (const begin of ['It', '- item\n- It', '1. It', '> It', '| a | b |\n|---|---|\n| x | It']) {
      const stream = new BlockStream()
      stream.append(begin)
      stream.flush()
      let looked = 0
      for (let i = 0; i < 300; i++) {
        stream.append(' goes on, and on: so it is.')
        looked += stream.pendingCost
        stream.flush()
      }
      assert.equal(looked, 300 * 27, begin)
    }
  })

  it('append to an open fence without parsing it again', () => {
    const stream = new BlockStream()
    stream.append('```js\n')
    stream.flush()
    let most = 0
    for (let i = 0; i < 2000; i++) {
      stream.append(`line(${i})\n`)
      most = Math.max(most, stream.pendingCost)
      assert.deepEqual(stream.flush().changed, [0])
    }
    assert.ok(most < 100, `${most} characters`)
    stream.append('```\nafter')
    stream.flush()
    assert.deepEqual(
      stream.blocks.map(block => block.type),
      ['fence', 'paragraph'],
    )
  })
})
