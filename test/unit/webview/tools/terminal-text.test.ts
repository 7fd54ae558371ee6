import assert from 'node:assert/strict'
import fc from 'fast-check'
import { linkedLines } from '../../../../src/webview/tools/file-links.ts'
import { TerminalText } from '../../../../src/webview/tools/terminal-text.ts'
import { cpuTime } from '../../../support/cpu-time.ts'

const esc = '\u001b'

function fed(...pieces: string[]): TerminalText {
  const text = new TerminalText()
  for (const piece of pieces) text.append(piece)
  return text
}

/** All that is shown, as text. */
const shown = (text: TerminalText) => text.plain
const lines = (...all: string[]) => `${all.join('\n')}\n`

describe('terminal text', () => {
  it('reads colours of 16, 256 and all, and decorations', () => {
    const text = fed(
      `${esc}[31mred${esc}[0m ${esc}[1;38;5;208mbold${esc}[22m orange${esc}[0m${esc}[48;2;1;2;3mback\n`,
    )
    assert.deepEqual(text.screen[0]!.spans, [
      { text: 'red', foreground: 'ansi-red', background: undefined, decorations: [] },
      { text: ' ', foreground: undefined, background: undefined, decorations: [] },
      { text: 'bold', foreground: 'rgb(255, 135, 0)', background: undefined, decorations: ['bold'] },
      { text: ' orange', foreground: 'rgb(255, 135, 0)', background: undefined, decorations: [] },
      { text: 'back', foreground: undefined, background: 'rgb(1, 2, 3)', decorations: [] },
    ])
  })

  it('keeps a colour over lines and over pieces cut inside its code', () => {
    const text = fed(`${esc}[3`, `2mone\ntw`, `o${esc}`, '[0m plain\n')
    assert.deepEqual(
      text.screen.map(line => line.spans.map(span => [span.text, span.foreground])),
      [
        [['one', 'ansi-green']],
        [
          ['two', 'ansi-green'],
          [' plain', undefined],
        ],
        [],
      ],
    )
  })

  it('writes over a line after a carriage return, as a terminal does', () => {
    assert.equal(shown(fed('10 %\r50 %\r100 %\ndone\r\n')), '100 %\ndone\n')
    assert.equal(shown(fed('10 %', '\r50 %')), '50 %')
    assert.equal(shown(fed('a long one\rshort')), 'shortg one')
    assert.equal(shown(fed(`a long one\r${esc}[Kshort`)), 'short')
    assert.equal(shown(fed('abc\b\bX\n')), 'aXc\n')
  })

  it('draws several lines of progress in their places', () => {
    const text = fed(lines('pull a: 10 %', 'pull b: 20 %', 'pull c: 30 %'))
    for (const percent of [50, 100])
      text.append(
        `${esc}[3A${lines(...['a', 'b', 'c'].map(name => `${esc}[2K\rpull ${name}: ${percent} %`))}`,
      )
    assert.equal(shown(text), lines('pull a: 100 %', 'pull b: 100 %', 'pull c: 100 %'))
    text.append(`${esc}[1A${esc}[1G${esc}[31mPULL`)
    assert.equal(shown(text), lines('pull a: 100 %', 'pull b: 100 %', 'PULL c: 100 %'))
    assert.equal(text.screen[2]!.spans[0]!.foreground, 'ansi-red')
  })

  it('erases and moves as it is told', () => {
    assert.equal(shown(fed(`abcdef${esc}[3D${esc}[K`)), 'abc')
    assert.equal(shown(fed(`abcdef${esc}[3D${esc}[1K`)), '    ef')
    assert.equal(shown(fed(`abcdef${esc}[4G${esc}[2P`)), 'abcf')
    assert.equal(shown(fed(`one\ntwo\nthree${esc}[2F${esc}[Jnew`)), 'new')
    assert.equal(shown(fed(`one\ntwo${esc}[2J${esc}[Hagain`)), 'again\n')
    assert.equal(shown(fed(`a${esc}7bc${esc}8X`)), 'aXc')
    assert.equal(shown(fed(`${esc}[5Cx`)), '     x')
  })

  it('leaves out titles, links, character sets and control characters', () => {
    const noise = `${esc}]0;title\u0007a${esc}]8;;https://x${esc}\\b${esc}]8;;${esc}\\${esc}(B\u0000c${esc}=`
    assert.equal(shown(fed(`${noise}\n`)), 'abc\n')
  })

  it('keeps the last lines and says how many are above them', () => {
    const text = new TerminalText()
    for (let i = 0; i < 5000; i++) text.append(`line ${i}\n`)
    assert.ok(text.groups.length <= 20)
    const kept = shown(text).split('\n')
    assert.equal(kept[0], `line ${text.dropped}`)
    assert.equal(kept.at(-2), 'line 4999')
    assert.ok(text.screen.length < 120)
  })

  it('costs the same for the last line of a long output as for the first', () => {
    const text = new TerminalText()
    const time = (count: number) =>
      cpuTime(() => {
        for (let i = 0; i < count; i++) text.append(`${esc}[32mok${esc}[0m line ${i} of the output\n`)
      })
    time(5000)
    const first = time(5000)
    time(30_000)
    assert.ok(time(5000) < first * 3 + 50)
  })

  it('shows the same however the output is cut', () => {
    const fragment = fc.constantFrom(
      'a',
      'word ',
      '\n',
      '\r\n',
      '\r',
      `${esc}[31m`,
      `${esc}[0m`,
      `${esc}[1m`,
      `${esc}[2K`,
      `${esc}[2A`,
      `${esc}[B`,
      `${esc}[3D`,
      `${esc}[J`,
      `${esc}[4G`,
      `${esc}[2;3H`,
      '\b',
      '\n\n\n',
      '😀',
      '\t',
      `${esc}]0;t\u0007`,
    )
    fc.assert(
      fc.property(
        fc.array(fragment, { maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
        (list, lengths) => {
          const whole = list.join('')
          const text = new TerminalText()
          for (let at = 0, i = 0; at < whole.length; i++) {
            const length = lengths[i % lengths.length]!
            text.append(whole.slice(at, at + length))
            void text.plain
            at += length
          }
          const once = fed(whole)
          assert.deepEqual(text.groups, once.groups)
          const screen = (of: TerminalText) => of.screen.map(line => line.spans)
          assert.deepEqual(screen(text), screen(once))
          for (const line of text.screen)
            assert.equal(line.spans.map(span => span.text).join('').length, line.length)
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('links in output', () => {
  const links = (text: string) =>
    linkedLines(text).flatMap(part => {
      if (part.href) return [part.href]
      const { file } = part
      return file ? [`${file.path}|${file.line ?? ''}|${file.column ?? ''}`] : []
    })

  it('are found as compilers and tests write them', () => {
    assert.deepEqual(links('src/a.ts:12:3 - error TS1005'), ['src/a.ts|12|3'])
    assert.deepEqual(links('src\\a.cs(4,7): warning'), ['src\\a.cs|4|7'])
    assert.deepEqual(links('    at run (/p/lib/x.js:10:5)'), ['/p/lib/x.js|10|5'])
    assert.deepEqual(links('  --> src/main.rs:2:1'), ['src/main.rs|2|1'])
    assert.deepEqual(links('see https://a.b/c?d=1.'), ['https://a.b/c?d=1'])
    assert.deepEqual(links('one a.ts:1\ntwo b.ts:2'), ['a.ts|1|', 'b.ts|2|'])
  })

  it('are not seen in what only looks like them', () => {
    for (const text of ['12:30:11', '1.2.3', 'parley@1.0.0', '100 % (3/4)', 'a.b.c', 'user@host:22'])
      assert.deepEqual(links(text), [], text)
  })

  it('leave the text as it was, in little time', () => {
    const piece = fc.constantFrom(
      'a',
      '.',
      '/',
      ':',
      '1',
      'ts',
      '\\',
      ' ',
      'https://',
      '(',
      ')',
      '\n',
      '#L',
      '@',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 80 }), list => {
        const text = list.join('')
        assert.equal(
          linkedLines(text)
            .map(part => part.text)
            .join(''),
          text,
        )
      }),
    )
    const long = () => {
      for (const one of ['a', 'a.', '/', 'a/', '.', 'a:1'])
        for (let i = 0; i < 20; i++) linkedLines(one.repeat(Math.floor(4000 / one.length)))
    }
    assert.ok(cpuTime(long) < 2000)
  })
})
