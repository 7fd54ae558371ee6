import assert from 'node:assert/strict'
import { KnownSessions, type SessionSources } from '../../../../src/sessions/listing/known-sessions.ts'

const record = (sessionId: string, more: object = {}) => ({
  ...{ agentId: 'a', sessionId, cwd: '/w', additionalDirectories: [], createdAt: 1, updatedAt: 2 },
  ...more,
})

const sources: SessionSources = {
  ...{ agentName: 'Agent', isAvailable: true, running: undefined, canLoad: true, canResume: false },
  records: [record('one', { title: 'One' }), record('unused')],
  listed: [{ sessionId: 'two', cwd: '/w', additionalDirectories: [], title: 'Two' }],
  ...{ isWhole: false, statuses: new Map(), savedKeys: new Set<string>() },
}

describe('KnownSessions', () => {
  const ids = (known: KnownSessions) => known.listed.map(({ sessionId }) => sessionId)

  it('are the same objects until something of the agent changes', () => {
    const known = new KnownSessions('a')
    known.update({ ...sources })
    const first = known.listed
    assert.deepEqual(ids(known), ['one', 'two'])
    known.update({ ...sources })
    assert.equal(known.listed, first)
    assert.equal(known.listed[0], first[0])
    known.update({ ...sources, records: [record('one', { title: 'One', givenTitle: 'Mine' })] })
    assert.deepEqual(
      known.listed.map(({ title }) => title),
      ['Mine', 'Two'],
    )
  })

  it('are the same objects when the agent lists more sessions, but for those that changed', () => {
    const known = new KnownSessions('a')
    const [two, three] = ['two', 'three'].map(sessionId => ({
      ...{ sessionId, cwd: '/w', additionalDirectories: [], title: sessionId },
    }))
    const records = () => [
      record('one', { title: 'One', formerTitles: ['A'], continuedIn: { agentId: 'b', sessionId: 'x' } }),
    ]
    known.update({ ...sources, records: records(), listed: [two!] })
    const [one, before] = known.listed
    known.update({ ...sources, records: records(), listed: [{ ...two! }, three!] })
    assert.deepEqual(ids(known), ['one', 'two', 'three'])
    assert.equal(known.listed[0], one)
    assert.equal(known.listed[1], before)
    assert.equal(known.get('two'), before)
    known.update({ ...sources, records: records(), listed: [{ ...two!, title: 'Renamed' }, three!] })
    assert.equal(known.listed[0], one)
    assert.equal(known.listed[1]?.title, 'Renamed')
  })

  it('change with each part that they are known from', () => {
    const known = new KnownSessions('a')
    const listedWith = (change: Partial<SessionSources>) => {
      known.update({ ...sources, ...change })
      return known.listed
    }
    assert.deepEqual([listedWith({ savedKeys: new Set(['a/unused']) }).length, listedWith({}).length], [3, 2])
    assert.deepEqual([listedWith({ canLoad: false })[0]?.canLoad, listedWith({})[0]?.canLoad], [false, true])
    assert.deepEqual(
      [listedWith({ isWhole: true })[0]?.unlisted, listedWith({})[0]?.unlisted],
      ['gone', undefined],
    )
    assert.deepEqual(
      listedWith({ statuses: new Map([['two', { status: 'open' }]]) })[1]?.status?.status,
      'open',
    )
    assert.equal(listedWith({ agentName: 'Other' })[0]?.agentName, 'Other')
    assert.equal(listedWith({ isAvailable: false, canLoad: false }).length, 0)
  })
})
