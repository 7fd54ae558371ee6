import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type TerminalSpan, TerminalText } from '../../../../src/webview/tools/terminal-text.ts'

const esc = '\u001b'

function fed(...pieces: string[]): TerminalText {
  const text = new TerminalText()
  for (const piece of pieces) text.append(piece)
  return text
}

/** All that is shown, as text. */
function shown(text: TerminalText): string {
  const of = (spans: readonly TerminalSpan[]) => spans.map(span => span.text).join('')
  return [...text.groups.map(group => of(group.spans)), of(text.openLine)].join('\n')
}

describe('terminal text', () => {
  it('reads colours of 16, 256 and all, and decorations', () => {
    const text = fed(
      `${esc}[31mred${esc}[0m ${esc}[1;38;5;208mbold${esc}[22m orange${esc}[0m${esc}[48;2;1;2;3mback\n`,
    )
    assert.deepEqual(text.groups[0]!.spans, [
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
      text.groups[0]!.spans.map(span => [span.text, span.foreground]),
      [
        ['one\ntwo', 'ansi-green'],
        [' plain', undefined],
      ],
    )
  })

  it('starts a line over at a carriage return', () => {
    assert.equal(shown(fed('10 %\r50 %\r100 %\ndone\r\n')), '100 %\ndone\n')
    assert.equal(shown(fed('10 %', '\r50 %')), '50 %')
    assert.equal(shown(fed('abc\b\bX\n')), 'aX\n')
  })

  it('leaves out titles, links, cursor movement and control characters', () => {
    const noise = `${esc}]0;title\u0007a${esc}[2K${esc}[1;1H${esc}]8;;https://x${esc}\\b${esc}]8;;${esc}\\${esc}(B\u0000c${esc}7`
    assert.equal(shown(fed(`${noise}\n`)), 'abc\n')
  })

  it('keeps the last lines and says that earlier ones are gone', () => {
    const text = new TerminalText()
    for (let i = 0; i < 5000; i++) text.append(`line ${i}\n`)
    assert.ok(text.dropped)
    assert.ok(text.groups.length <= 20)
    assert.ok(shown(text).endsWith('line 4999\n'))
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
            void text.openLine
            at += length
          }
          const once = fed(whole)
          assert.deepEqual(text.groups, once.groups)
          assert.deepEqual(text.openLine, once.openLine)
        },
      ),
      { numRuns: 1000 },
    )
  })
})
