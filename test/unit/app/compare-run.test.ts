import assert from 'node:assert/strict'
import fc from 'fast-check'
import { NEW_RUN, nextRun, type Run, type RunEvent, run } from '../../../src/app/compare/run.ts'
import { isBusy } from '../../../src/bridge/compare.ts'

describe('the run of an agent in a comparison', () => {
  const play = (...events: RunEvent[]) => events.reduce(nextRun, NEW_RUN)
  const turn = (since: number, isWaiting = false): RunEvent => ({ type: 'turn', since, isWaiting })

  it('counts the time of all its turns', () => {
    const first = play(turn(100), turn(100, true), turn(100), { type: 'end', how: 'done', at: 350 })
    assert.deepEqual(first, { state: 'done', worked: 250 })
    const next = nextRun(nextRun(first, turn(1000)), { type: 'end', how: 'stopped', at: 1500 })
    assert.deepEqual(next, { state: 'stopped', worked: 750 })
  })

  it('says why it failed, until it is started again', () => {
    const failed = play({ type: 'fail', reason: 'Sign in first.', needsSignIn: true, at: 5 })
    assert.deepEqual(failed, { state: 'failed', reason: 'Sign in first.', needsSignIn: true, worked: 0 })
    assert.deepEqual(nextRun(failed, { type: 'start' }), NEW_RUN)
    assert.deepEqual(nextRun(failed, turn(7)), { state: 'working', worked: 0, since: 7 })
  })

  it('is interrupted with its window only if it was not over', () => {
    assert.equal(play({ type: 'lose', at: 0 }).state, 'interrupted')
    assert.deepEqual(play(turn(10), { type: 'lose', at: 15 }), { state: 'interrupted', worked: 5 })
    const done = play(turn(10), { type: 'end', how: 'done', at: 20 })
    assert.equal(nextRun(done, { type: 'lose', at: 100 }), done)
  })

  it('stays valid whatever happens in which order', () => {
    const time = fc.nat(1000)
    const event: fc.Arbitrary<RunEvent> = fc.oneof(
      fc.constant<RunEvent>({ type: 'start' }),
      fc.constant<RunEvent>({ type: 'stop' }),
      fc.record({ type: fc.constant('turn' as const), since: time, isWaiting: fc.boolean() }),
      fc.record({ type: fc.constant('lose' as const), at: time }),
      fc.record({ type: fc.constant('end' as const), how: fc.constantFrom('done', 'stopped'), at: time }),
      fc.record({
        type: fc.constant('fail' as const),
        reason: fc.string({ maxLength: 3000 }),
        needsSignIn: fc.boolean(),
        at: time,
      }),
    )
    fc.assert(
      fc.property(fc.array(event), events => {
        let before: Run = NEW_RUN
        for (const one of events) {
          const after = nextRun(before, one)
          assert.ok(after.worked >= before.worked)
          assert.equal(after.since !== undefined, after.state === 'working' || after.state === 'waiting')
          assert.equal(isBusy(after), after.since !== undefined || after.state === 'starting')
          assert.equal(after.reason !== undefined, after.state === 'failed')
          if (after.needsSignIn) assert.equal(after.state, 'failed')
          assert.deepEqual(run.parse(JSON.parse(JSON.stringify(after))), after)
          before = after
        }
      }),
    )
  })
})
