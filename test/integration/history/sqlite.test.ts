import assert from 'node:assert/strict'

describe('the extension host', () => {
  // The unit tests of the session store also run here, and are skipped without SQLite.
  it('has SQLite, so none of the history tests was skipped @floor', () => {
    assert.ok(process.getBuiltinModule('node:sqlite'))
  })
})
