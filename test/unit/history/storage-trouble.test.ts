import assert from 'node:assert/strict'
import { NewerDatabaseError, StorageTrouble } from '../../../src/history/database.ts'

const full = Object.assign(new Error('database or disk is full'), { errcode: 13 })
const locked = Object.assign(new Error('database is locked'), { errcode: 5 })

describe('StorageTrouble', () => {
  let reported: string[]
  let now: number
  let trouble: StorageTrouble
  const fails = (file: string, error: Error = full) =>
    trouble.failed(file, error, reason => `${file}: ${reason}`)

  beforeEach(() => {
    reported = []
    now = 1_000_000
    trouble = new StorageTrouble(
      message => reported.push(message),
      () => now,
    )
  })

  it("reports a full disk once, whatever can't be written", () => {
    fails('sessions')
    fails('conversations')
    fails('sessions')
    assert.equal(reported.length, 1)
    assert.match(reported[0] ?? '', /to disk.*disk is full/)
  })

  it('reports it again only after everything worked in between', () => {
    fails('sessions')
    fails('conversations')
    now += 120_000
    trouble.worked('sessions')
    fails('conversations')
    assert.equal(reported.length, 1, 'one was not well')
    trouble.worked('conversations')
    fails('sessions')
    assert.equal(reported.length, 1, 'a disk that is almost full takes some')
    now += 60_000
    trouble.worked('sessions')
    trouble.worked('conversations')
    fails('conversations')
    assert.equal(reported.length, 2)
  })

  it('reports a problem of a single file once, separately from a full disk', () => {
    fails('conversations')
    fails('sessions', locked)
    trouble.worked('sessions')
    fails('sessions', locked)
    fails('list', new NewerDatabaseError('version 9'))
    assert.deepEqual(reported.slice(1), [
      'sessions: database is locked',
      'list: Created by a newer version of Parley.',
    ])
  })
})
