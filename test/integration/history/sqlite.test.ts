import assert from 'node:assert/strict'

describe('the extension host', () => {
  // The unit tests of the store of sessions run here too, and skip themselves where there is no SQLite.
  it('has SQLite, so none of the history tests was skipped', () => {
    assert.ok(process.getBuiltinModule('node:sqlite'))
  })
})
