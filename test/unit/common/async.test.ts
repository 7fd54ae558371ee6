import assert from 'node:assert/strict'
import { mock } from 'node:test'
import {
  Budget,
  forEachConcurrent,
  loadOnce,
  raceAbort,
  withDeadline,
  withSlowNotice,
  withTimeout,
} from '../../../src/common/async.ts'
import { CancelledError } from '../../../src/common/errors.ts'
import { Deferred, settle } from '../conversation/fake-agent.ts'

describe('withSlowNotice', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  function waiting() {
    const answer = new Deferred<string>()
    const giveUp = new Deferred<void>()
    const reported: AbortSignal[] = []
    let givenUp: AbortSignal | undefined
    const outcome = withSlowNotice(
      signal => {
        givenUp = signal
        return answer.promise
      },
      over => {
        reported.push(over)
        return giveUp.promise
      },
      15_000,
    )
    return { answer, giveUp, reported, outcome, isGivenUp: () => givenUp?.aborted }
  }

  it('shows no notice for a quick response', async () => {
    const { answer, reported, outcome } = waiting()
    mock.timers.tick(14_999)
    answer.resolve('done')
    assert.equal(await outcome, 'done')
    mock.timers.tick(60_000)
    assert.deepEqual(reported, [])
  })

  it('shows the notice until the response arrives', async () => {
    const { answer, reported, outcome, isGivenUp } = waiting()
    mock.timers.tick(15_000)
    assert.equal(reported.length, 1)
    assert.equal(reported[0]?.aborted, false)
    answer.resolve('late')
    assert.equal(await outcome, 'late')
    assert.equal(reported[0]?.aborted, true)
    assert.equal(isGivenUp(), false)
  })

  it('shows the notice until the work fails', async () => {
    const { answer, reported, outcome } = waiting()
    mock.timers.tick(15_000)
    answer.reject(new Error('no'))
    await assert.rejects(outcome, /no/)
    assert.equal(reported[0]?.aborted, true)
  })

  it('stops waiting when the user cancels, while the work continues', async () => {
    const { answer, giveUp, reported, outcome, isGivenUp } = waiting()
    mock.timers.tick(15_000)
    giveUp.resolve()
    await assert.rejects(outcome, CancelledError)
    assert.equal(isGivenUp(), true)
    assert.equal(reported[0]?.aborted, true)
    // a late rejection must not be unhandled
    answer.reject(new Error('too late'))
    await settle()
  })

  it("doesn't count the end of the work, which closes the notice, as a cancellation", async () => {
    const { answer, giveUp, outcome, isGivenUp } = waiting()
    mock.timers.tick(15_000)
    answer.resolve('late')
    await outcome
    giveUp.resolve()
    await settle()
    assert.equal(isGivenUp(), false)
  })
})

/** Nothing of this process happens for so long. */
function stopProcess(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

describe('withTimeout', () => {
  it('resolves like the promise, or with undefined after the timeout', async () => {
    assert.equal(await withTimeout(Promise.resolve(1), 60_000), 1)
    assert.equal(await withTimeout(new Promise(() => {}), 1), undefined)
    await assert.rejects(withTimeout(Promise.reject(new Error('no')), 60_000), /no/)
  })

  it('has what came while the process was stopped', async () => {
    // read after timers
    const came = new Promise<string>(resolve => setImmediate(resolve, 'came'))
    const found = withTimeout(came, 500)
    stopProcess(800)
    assert.equal(await found, 'came')
  })
})

describe('raceAbort', () => {
  it('settles like the promise or rejects when aborted', async () => {
    const abort = new AbortController()
    const never = raceAbort(new Promise(() => {}), abort.signal)
    assert.equal(await raceAbort(Promise.resolve(1), abort.signal), 1)
    abort.abort()
    await assert.rejects(never, CancelledError)
    await assert.rejects(raceAbort(Promise.reject(new Error('unheard')), abort.signal), CancelledError)
  })
})

describe('forEachConcurrent', () => {
  it('works on as many items at once as allowed, in order', async () => {
    const started: number[] = []
    const gates = Array.from({ length: 5 }, () => new Deferred<void>())
    const all = forEachConcurrent([0, 1, 2, 3, 4], 2, async item => {
      started.push(item)
      await gates[item]!.promise
    })
    assert.deepEqual(started, [0, 1])
    gates[1]!.resolve()
    await settle()
    assert.deepEqual(started, [0, 1, 2])
    for (const gate of gates) gate.resolve()
    await all
    assert.deepEqual(started, [0, 1, 2, 3, 4])
  })

  it('resolves only when the last item is done', async () => {
    const gate = new Deferred<void>()
    let isDone = false
    const all = forEachConcurrent([0, 1], 8, item => (item === 0 ? gate.promise : Promise.resolve())).then(
      () => {
        isDone = true
      },
    )
    await settle()
    assert.equal(isDone, false)
    gate.resolve()
    await all
  })

  it('rejects with the first failure, and still works on the other items', async () => {
    const done: number[] = []
    const all = forEachConcurrent([0, 1, 2, 3], 2, async item => {
      if (item === 0) throw new Error('no')
      done.push(item)
    })
    await assert.rejects(all, /no/)
    await settle()
    assert.deepEqual(done, [1, 2, 3])
  })

  it('resolves without items', async () => {
    await forEachConcurrent([], 4, () => assert.fail('there is no item'))
  })
})

describe('a budget', () => {
  it('lets work wait until there is room, in order, and one that is too large run by itself', async () => {
    const budget = new Budget(10)
    const running = new Set<number>()
    const begun: number[] = []
    const ends: Array<() => void> = []
    const amounts = [4, 6, 5, 50, 1, 9]
    const done = amounts.map((amount, i) =>
      budget
        .run(amount, async () => {
          begun.push(i)
          running.add(i)
          const sum = [...running].reduce((total, one) => total + Math.min(10, amounts[one]!), 0)
          assert.ok(sum <= 10, `${sum} at once`)
          await new Promise<void>(resolve => ends.push(resolve))
          running.delete(i)
          if (i === 0) throw new Error('failed')
        })
        .catch(() => {}),
    )
    assert.deepEqual(begun, [0, 1])
    while (begun.length < amounts.length || ends.length > 0) {
      ends.shift()?.()
      await settle()
    }
    await Promise.all(done)
    assert.deepEqual(begun, [0, 1, 2, 3, 4, 5])
  })
})

describe('withDeadline', () => {
  const aborted = (signal: AbortSignal) =>
    new Promise<string>(resolve => signal.addEventListener('abort', () => resolve(signal.reason.name)))

  it('aborts the work after the time, or with the given signal', async () => {
    assert.equal(await withDeadline(1, undefined, aborted), 'TimeoutError')
    assert.equal(await withDeadline(1, new AbortController().signal, aborted), 'TimeoutError')
    const abort = new AbortController()
    const work = withDeadline(60_000, abort.signal, aborted)
    abort.abort(new CancelledError())
    assert.equal(await work, new CancelledError().name)
    assert.equal(await withDeadline(60_000, undefined, async () => 'done'), 'done')
  })
})

describe('what is loaded once', () => {
  it('is shared, and loaded again after a failure', async () => {
    let count = 0
    let fails = true
    const load = loadOnce(async () => {
      count += 1
      await settle()
      if (fails) throw new Error(`failure ${count}`)
      return count
    })
    const first = await Promise.allSettled([load(), load()])
    assert.deepEqual(
      first.map(one => one.status === 'rejected' && one.reason.message),
      ['failure 1', 'failure 1'],
    )
    await assert.rejects(load(), /failure 2/)
    fails = false
    assert.deepEqual(await Promise.all([load(), load()]), [3, 3])
    assert.equal(await load(), 3)
  })
})
