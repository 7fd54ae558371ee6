import assert from 'node:assert/strict'
import fc from 'fast-check'
import { linkedParts, readings } from '../../../../src/common/file-links.ts'
import {
  MAX_SCROLLBACK_ROWS,
  plainOutput,
  TerminalScreen,
} from '../../../../src/webview/tools/terminal-screen.ts'
import { cpuTime } from '../../../support/cpu-time.ts'
import { scaledRuns } from '../../../support/property-tests.ts'

const esc = '\u001b'

async function fed(...pieces: string[]): Promise<TerminalScreen> {
  const screen = new TerminalScreen()
  for (const piece of pieces) await screen.append(piece)
  return screen
}

const textOf = (screen: TerminalScreen) => screen.lines.map(line => screen.text(line))
/** All lines of an output as a terminal shows them. */
const shown = async (...pieces: string[]) => textOf(await fed(...pieces))
const spansOf = (screen: TerminalScreen, line: number) => screen.spans(screen.lines[line]!)
const lines = (...all: string[]) => `${all.join('\n')}\n`

describe('terminal screen', () => {
  it('reads 16, 256 and all colors, and decorations', async () => {
    const screen = await fed(
      `${esc}[31mred${esc}[0m ${esc}[1;38;5;208mbold${esc}[22m orange${esc}[0m${esc}[48;2;1;2;3mback\n`,
    )
    assert.deepEqual(spansOf(screen, 0), [
      { text: 'red', foreground: 'ansi-red', background: undefined, decorations: [] },
      { text: ' ', foreground: undefined, background: undefined, decorations: [] },
      { text: 'bold', foreground: 'rgb(255, 135, 0)', background: undefined, decorations: ['bold'] },
      { text: ' orange', foreground: 'rgb(255, 135, 0)', background: undefined, decorations: [] },
      { text: 'back', foreground: undefined, background: 'rgb(1, 2, 3)', decorations: [] },
    ])
  })

  it('keeps a color across lines, and across pieces that split its code', async () => {
    const screen = await fed(`${esc}[3`, `2mone\ntw`, `o${esc}`, '[0m plain\n')
    assert.deepEqual(
      screen.lines.map(line => screen.spans(line).map(span => [span.text, span.foreground])),
      [
        [['one', 'ansi-green']],
        [
          ['two', 'ansi-green'],
          [' plain', undefined],
        ],
      ],
    )
  })

  it('overwrites a line after a carriage return', async () => {
    assert.deepEqual(await shown('10 %\r50 %\r100 %\ndone\r\n'), ['100 %', 'done'])
    assert.deepEqual(await shown('10 %', '\r50 %'), ['50 %'])
    assert.deepEqual(await shown('a long one\rshort'), ['shortg one'])
    assert.deepEqual(await shown(`a long one\r${esc}[Kshort`), ['short'])
    assert.deepEqual(await shown('abc\b\bX\n'), ['aXc'])
  })

  it('updates progress on several lines in place', async () => {
    const screen = await fed(lines('pull a: 10 %', 'pull b: 20 %', 'pull c: 30 %'))
    for (const percent of [50, 100]) {
      const now = ['a', 'b', 'c'].map(name => `${esc}[2K\rpull ${name}: ${percent} %`)
      await screen.append(`${esc}[3A${lines(...now)}`)
    }
    assert.deepEqual(textOf(screen), ['pull a: 100 %', 'pull b: 100 %', 'pull c: 100 %'])
    await screen.append(`${esc}[1A${esc}[1G${esc}[31mPULL`)
    assert.deepEqual(textOf(screen).at(-1), 'PULL c: 100 %')
    assert.equal(spansOf(screen, 2)[0]!.foreground, 'ansi-red')
  })

  it('omits titles, links, character sets and control characters', async () => {
    const noise = `${esc}]0;title\u0007a${esc}]8;;https://x${esc}\\b${esc}]8;;${esc}\\${esc}(B\u0000c${esc}=`
    assert.deepEqual(await shown(`${noise}\n`), ['abc'])
  })

  it('joins the rows of a line that is wider than the terminal', async () => {
    const long = 'word '.repeat(200).trim()
    const screen = await fed(`${long}\nnext\n`)
    assert.deepEqual(textOf(screen), [long, 'next'])
    assert.equal(screen.lines[0]!.rows, 5)
    assert.equal(screen.lines[0]!.columns, long.length)
    assert.equal(
      spansOf(screen, 0)
        .map(({ text }) => text)
        .join(''),
      long,
    )
  })

  it('keeps wide characters intact', async () => {
    const screen = await fed('日本 ok\n')
    assert.deepEqual(spansOf(screen, 0)[0]!.text, '日本 ok')
    assert.equal(screen.lines[0]!.columns, 7)
  })

  it('has the size that the program expects', async () => {
    const screen = new TerminalScreen({ cols: 20, rows: 5 })
    await screen.append(`${'x'.repeat(30)}\n`)
    assert.equal(screen.lines[0]!.rows, 2)
  })

  it('keeps the last rows with their numbers, and reports that there were more', async () => {
    const screen = await fed(lines(...Array.from({ length: 100 }, (_, i) => `line ${i}`)))
    const { start } = screen.lines[99]!
    assert.equal(screen.isCut, false)
    for (let at = 100; at < MAX_SCROLLBACK_ROWS + 2000; at += 1000)
      await screen.append(lines(...Array.from({ length: 1000 }, (_, i) => `line ${at + i}`)))
    assert.equal(screen.isCut, true)
    const said = textOf(screen)
    assert.ok(said.length <= MAX_SCROLLBACK_ROWS + 50 && said.length >= MAX_SCROLLBACK_ROWS - 50)
    assert.equal(said.at(-1), `line ${MAX_SCROLLBACK_ROWS + 2099}`)
    assert.equal(screen.lines[0]!.start - start, Number(said[0]!.slice(5)) - 99)
  })

  it('shows a full-screen program, and then what was there before', async () => {
    const screen = await fed(`before\n${esc}[?1049h${esc}[Hwhole`)
    assert.deepEqual(textOf(screen), ['whole'])
    await screen.append(`${esc}[?1049l`)
    assert.deepEqual(textOf(screen), ['before'])
  })

  it('returns all of a long output as text', async () => {
    const all = Array.from({ length: 30_000 }, (_, i) => `${esc}[32mok${esc}[0m ${i}`)
    const text = await plainOutput(lines(...all))
    assert.deepEqual(
      text.split('\n').slice(0, -1),
      all.map((_, i) => `ok ${i}`),
    )
    assert.equal(await plainOutput('10 %\r20 %\n\nend'), '20 %\n\nend')
  }).timeout(20_000)

  it('reads 1 MB of colored output without blocking', async () => {
    const output = lines(
      ...Array.from(
        { length: 15_000 },
        (_, i) => `${esc}[3${i % 8}mline ${i}${esc}[0m of ${esc}[1mthe output${esc}[22m`,
      ),
    )
    const screen = new TerminalScreen()
    await screen.append(output)
    // when everything is written, another line reads only the screen
    const more = cpuTime(() => void screen.spans(screen.lines.at(-1)!))
    assert.ok(more < 50)
    const before = screen.lines[100]
    await screen.append('one more\n')
    assert.equal(screen.lines.at(-1) && screen.text(screen.lines.at(-1)!), 'one more')
    assert.ok(screen.lines.includes(before!), 'rows above the screen are not read again')
  }).timeout(20_000)

  it('shows the same however the output is split', async () => {
    const fragment = fc.constantFrom(
      'a',
      'word ',
      '\n',
      '\r\n',
      '\r',
      `${esc}[31m`,
      `${esc}[0m`,
      `${esc}[2K`,
      `${esc}[2A`,
      `${esc}[3D`,
      `${esc}[J`,
      `${esc}[2;3H`,
      '\b',
      '\n\n\n',
      '😀',
      '\t',
      `${esc}]0;t\u0007`,
      `${'long '.repeat(60)}`,
      '\n'.repeat(60),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fragment, { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 6 }),
        async (list, lengths) => {
          const whole = list.join('')
          const screen = new TerminalScreen()
          for (let at = 0, i = 0; at < whole.length; i++) {
            const length = lengths[i % lengths.length]!
            await screen.append(whole.slice(at, at + length))
            at += length
          }
          const once = await fed(whole)
          assert.deepEqual(screen.lines, once.lines)
          assert.deepEqual(
            screen.lines.map(line => screen.spans(line)),
            once.lines.map(line => once.spans(line)),
          )
        },
      ),
      { numRuns: scaledRuns(60) },
    )
  }).timeout(30_000)
})

describe('links in output', () => {
  const links = (text: string) =>
    text
      .split('\n')
      .flatMap(linkedParts)
      .flatMap(part => {
        if (part.href) return [part.href]
        const file = readings(part.file ?? '').find(({ line }) => line !== undefined)
        return file ? [`${file.path}|${file.line}|${file.column ?? ''}`] : []
      })

  it('are found in the formats of compilers and tests', () => {
    assert.deepEqual(links('src/a.ts:12:3 - error TS1005'), ['src/a.ts|12|3'])
    assert.deepEqual(links('src\\a.cs(4,7): warning'), ['src\\a.cs|4|7'])
    assert.deepEqual(links('    at run (/p/lib/x.js:10:5)'), ['/p/lib/x.js|10|5'])
    assert.deepEqual(links('  --> src/main.rs:2:1'), ['src/main.rs|2|1'])
    assert.deepEqual(links('see https://a.b/c?d=1.'), ['https://a.b/c?d=1'])
    assert.deepEqual(links('one a.ts:1\ntwo b.ts:2'), ['a.ts|1|', 'b.ts|2|'])
  })

  it("aren't found in similar text", () => {
    for (const text of ['12:30:11', '1.2.3', 'parley@1.0.0', '100 % (3/4)', 'a.b.c', 'user@host:22'])
      assert.deepEqual(links(text), [], text)
  })

  it("don't change the text, and are found quickly", () => {
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
        const said = linkedParts(text).map(part => part.text)
        assert.equal(said.join(''), text)
      }),
    )
    const long = () => {
      for (const one of ['a', 'a.', '/', 'a/', '.', 'a:1'])
        for (let i = 0; i < 20; i++) linkedParts(one.repeat(Math.floor(4000 / one.length)))
    }
    assert.ok(cpuTime(long) < 2000)
  })
})
