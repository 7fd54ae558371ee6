import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { createSessionState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import { appendBounded, TERMINAL_KEEP, tail } from '../../../src/conversation/reducer/reduce-terminals.ts'

describe('bounded text', () => {
  it('keeps everything within the limit', () => {
    assert.deepEqual(appendBounded('ab', 'cd', 4), { text: 'abcd', cut: false })
  })

  it('is cut at the start of a line', () => {
    assert.equal(tail('one\ntwo\nthree\n', 9), 'three\n')
    assert.equal(tail('one\ntwo\n', 4), 'two\n')
    assert.equal(tail('one\ntwo\nthree\n', 10), 'two\nthree\n')
  })

  it('is cut inside a line that is longer than the limit, but not inside a surrogate pair', () => {
    assert.equal(tail('abcdef', 3), 'def')
    assert.equal(tail('😀😀😀', 3), '😀')
  })

  it('keeps a line that ends at the end of the text', () => {
    assert.equal(tail('abcdef\n', 3), 'ef\n')
  })

  it('keeps the end of the text within the limit', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', '\n', '😀', 'é'), maxLength: 30 })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 4, max: 40 }), (list, keep) => {
        let kept = ''
        let all = ''
        let cut = false
        for (const more of list) {
          const next = appendBounded(kept, more, keep)
          kept = next.text
          cut ||= next.cut
          all += more
          assert(kept.length <= keep)
          assert(all.endsWith(kept))
          // throws if there is half of a surrogate pair
          encodeURIComponent(kept)
          assert(cut || kept === all)
        }
      }),
    )
  })

  it('limits a terminal, which the view requests again after a cut', () => {
    const state = createSessionState()
    const line = `${'x'.repeat(1023)}\n`
    let cuts = 0
    for (let at = 0; at < 3000; at++) {
      const [change] = reduce(state, { type: 'terminal_output', terminalId: 't', text: line })
      if (at > 0 && change?.type === 'terminal') cuts += 1
    }
    const terminal = state.terminals.get('t')!
    assert(terminal.output.length <= TERMINAL_KEEP && terminal.output.length >= TERMINAL_KEEP / 2)
    assert(terminal.output.startsWith('x'.repeat(1023)))
    assert.equal(terminal.truncated, true)
    assert(cuts > 0 && cuts < 10, `${cuts} cuts`)
  })

  it('limits output that replaces other output', () => {
    const state = createSessionState()
    const output = 'y'.repeat(TERMINAL_KEEP + 5)
    reduce(state, { type: 'terminal', terminal: { terminalId: 't', output } })
    assert.equal(state.terminals.get('t')?.output.length, TERMINAL_KEEP)
    assert.equal(state.terminals.get('t')?.truncated, true)
  })
})
