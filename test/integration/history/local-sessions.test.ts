import assert from 'node:assert/strict'

// The same tests as in plain Node, where the Node that the unit tests run on may have no SQLite.
import '../../unit/history/local-sessions.test.ts'

describe('the extension host', () => {
  it('has SQLite, so that nothing of LocalSessions was skipped', () => {
    assert.ok(process.getBuiltinModule('node:sqlite'))
  })
})
