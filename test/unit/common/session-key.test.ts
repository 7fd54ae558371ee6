import assert from 'node:assert/strict'
import fc from 'fast-check'
import { idOfStored, sessionKey, sessionOfKey, storedId } from '../../../src/common/session-key.ts'

/** Ids with what separates the parts of keys, in any place. */
const ids = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      '/',
      '%',
      '%2F',
      '\u0000',
      '\u0001',
      '\u0002',
      'id:"',
      '"',
      '\\',
      '\ud800',
      '\udc00',
      'a',
      '+',
    ),
  }),
)

describe('a key of a session', () => {
  it('leads back to its agent and session, whatever their ids contain', () => {
    fc.assert(
      fc.property(ids, ids, (agentId, sessionId) => {
        assert.deepEqual(sessionOfKey(sessionKey(agentId, sessionId)), { agentId, sessionId })
      }),
    )
  })

  it('is never that of another session', () => {
    fc.assert(
      fc.property(ids, ids, ids, ids, (agentA, sessionA, agentB, sessionB) => {
        const isSame = agentA === agentB && sessionA === sessionB
        assert.equal(sessionKey(agentA, sessionA) === sessionKey(agentB, sessionB), isSame)
      }),
    )
  })

  it('is stored without what separates it from other parts, and read back', () => {
    fc.assert(
      fc.property(ids, id => {
        const stored = storedId(id)
        assert.equal(idOfStored(stored), id)
        assert.doesNotMatch(stored, /[\p{Surrogate}\p{Cc}]/u)
      }),
    )
    for (const plain of ['s', '019ab-é/漢 1', 'ses_1']) assert.equal(storedId(plain), plain)
  })
})
