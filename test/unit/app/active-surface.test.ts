import assert from 'node:assert/strict'
import { mock } from 'node:test'
import fc from 'fast-check'
import { ActiveSurface, type FocusReport } from '../../../src/app/conversation/active-surface.ts'

type Surface = 'tab' | 'side bar'

describe('the active conversation', () => {
  let active: ActiveSurface<Surface>
  let changes: number

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    begin()
  })
  afterEach(() => {
    active.dispose()
    mock.timers.reset()
  })

  function begin(): void {
    active = new ActiveSurface<Surface>()
    active.set('side bar')
    changes = 0
    active.onDidChange(() => {
      changes += 1
    })
  }
  const later = () => mock.timers.tick(1000)
  const tell = (surface: Surface, ...reports: FocusReport[]) => {
    for (const report of reports) active.report(surface, report)
  }
  const command = () => active.run(() => active.current)

  it('is the one that the user acts in, immediately', () => {
    tell('tab', 'came', 'used')
    assert.equal(active.current, 'tab')
    tell('tab', 'left')
    tell('side bar', 'used')
    assert.equal(active.current, 'side bar')
    assert.equal(changes, 2)
  })

  it('is the one that gets and keeps the focus', () => {
    tell('tab', 'came')
    assert.equal(active.current, 'side bar')
    later()
    assert.equal(active.current, 'tab')
  })

  it("isn't one that gets the focus only for a moment", () => {
    tell('tab', 'came', 'left')
    later()
    assert.equal(active.current, 'side bar')
  })

  it('is the one that the user acts in, whatever late reports another page sends', async () => {
    tell('side bar', 'used')
    tell('tab', 'came')
    later()
    tell('tab', 'left')
    assert.equal(active.current, 'side bar')
    assert.equal(await command(), 'side bar')
  })

  it('is the one that the user acted in, although the previous page reports the lost focus late', async () => {
    tell('tab', 'came', 'used')
    tell('side bar', 'came', 'used')
    tell('side bar', 'left')
    later()
    tell('tab', 'left')
    assert.equal(await command(), 'side bar')
  })

  it('is the focused one after the previous one reports that it lost the focus', () => {
    tell('side bar', 'used')
    tell('tab', 'came')
    later()
    tell('side bar', 'left')
    later()
    assert.equal(active.current, 'tab')
  })

  it('is where a command was run, even if it arrives after the command palette moved the focus to a tab', async () => {
    tell('side bar', 'used', 'left')
    tell('tab', 'came')
    later()
    assert.equal(active.current, 'tab')
    assert.equal(await command(), 'side bar')
    // the focus is still in the tab
    later()
    assert.equal(active.current, 'tab')
  })

  it('is the one that the user clicked before opening the command palette with the mouse', async () => {
    tell('side bar', 'used', 'left')
    tell('tab', 'came')
    later()
    tell('tab', 'left', 'came')
    assert.equal(await command(), 'tab')
  })

  it('stays the same while a command asks for input, unless the user acts elsewhere', async () => {
    tell('side bar', 'used', 'left')
    const seen: Surface[] = []
    const answers: Array<() => void> = []
    const running = active.run(async () => {
      for (let i = 0; i < 2; i++) {
        await new Promise<void>(resolve => answers.push(resolve))
        seen.push(active.current)
      }
    })
    tell('tab', 'came')
    later()
    tell('tab', 'left', 'came')
    later()
    answers[0]!()
    await new Promise(setImmediate)
    tell('tab', 'used')
    answers[1]!()
    await running
    assert.deepEqual(seen, ['side bar', 'tab'])
  })

  it('changes when a tab closes, even for a command that is running', async () => {
    tell('tab', 'used', 'left')
    tell('side bar', 'came')
    later()
    active.remove('tab', 'side bar')
    assert.equal(await command(), 'side bar')
    tell('tab', 'used')
    active.remove('tab', 'side bar')
    later()
    assert.equal(active.current, 'side bar')
  })

  it('is reset after a command, even if that fails', async () => {
    await assert.rejects(
      active.run(() => Promise.reject(new Error('No'))),
      /No/,
    )
    await assert.rejects(
      active.run(() => {
        throw new Error('No')
      }),
      /No/,
    )
    tell('tab', 'came')
    later()
    assert.equal(active.current, 'tab')
  })

  it('is where each command was run, in any order of messages', async () => {
    const surface = fc.constantFrom<Surface>('tab', 'side bar')
    const step = fc.record({
      at: surface,
      /** by a shortcut, which is an action in the page, or else by mouse after the focus moved there */
      byKey: fc.boolean(),
      /** whether the page that had the focus before is so busy that it reports its loss only after the palette opened */
      isLate: fc.boolean(),
      /** where VS Code moves the focus when the palette closes: the active editor, or outside of Parley */
      back: fc.constantFrom<Surface | undefined>('tab', 'side bar', undefined),
      /** when each of the three messages arrives: the page that lost the focus, the one that got it, the command */
      order: fc.shuffledSubarray(['left', 'came', 'command'] as const, { minLength: 3 }),
      /** the time after each of them, in milliseconds */
      pauses: fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000)),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async steps => {
        begin()
        let focus: Surface | undefined
        for (const { at, byKey, isLate, back, order, pauses } of steps) {
          const lost = focus !== at ? focus : undefined
          // acting in a page shows that the focus is there, whatever other pages report
          let late = byKey && isLate && lost !== back ? lost : undefined
          if (lost !== undefined && late === undefined) tell(lost, 'left')
          if (focus !== at) tell(at, 'came')
          if (byKey) tell(at, 'used')
          // before using the mouse, the user sees where the focus is
          else later()
          const asked: Surface[] = []
          // a page's reports arrive in order: it reports that it lost the focus before it reports the focus again
          const told = back === at ? ['left', ...order.filter(one => one !== 'left')] : order
          // with the mouse, the palette opens only after the focus has left
          const arriving = byKey ? told : ['left', ...told.filter(one => one !== 'left')]
          for (const [index, one] of arriving.entries()) {
            if (one === 'left') tell(at, 'left')
            else if (one === 'command') asked.push(await command())
            else if (back !== undefined) tell(back, 'came')
            mock.timers.tick(pauses[index]!)
            if (late !== undefined) tell(late, 'left')
            late = undefined
          }
          assert.deepEqual(asked, [at])
          focus = back
        }
        active.dispose()
      }),
    )
  })
})
