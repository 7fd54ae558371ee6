import { strict as assert } from 'node:assert'
import { filterRows, isWithin } from '../../../src/common/filter-rows.ts'

const rows = [
  { title: 'Fix the Café menu', cwd: '/home/ann/shop', agentName: 'Claude' },
  { title: 'Rename tests', cwd: '/home/ann/shop/api', agentName: 'Codex' },
  { title: 'Shopping list', cwd: '/home/ann/shopping', agentName: 'Codex', sessionId: '01a1f851' },
]
const titles = (filter: Parameters<typeof filterRows>[1]) => filterRows(rows, filter).map(row => row.title)

describe('filterRows', () => {
  it('keeps all without a filter', () => {
    assert.equal(filterRows(rows, {}).length, 3)
    assert.equal(filterRows(rows, { text: '  ' }).length, 3)
  })

  it('finds all words in any order, whatever their case and accents', () => {
    assert.deepEqual(titles({ text: 'cafe FIX' }), ['Fix the Café menu'])
    assert.deepEqual(titles({ text: 'codex api' }), ['Rename tests'])
    assert.deepEqual(titles({ text: 'café nothing' }), [])
    assert.deepEqual(titles({ text: '01A1' }), ['Shopping list'])
  })

  it('finds a session by the titles that it had before', () => {
    const row = { title: 'Session 7', cwd: '/w', formerTitles: ['Fix the parser', 'Parser'] }
    assert.deepEqual(filterRows([row], { text: 'fix parser' }), [row])
    assert.deepEqual(filterRows([row], { text: 'lexer' }), [])
  })

  it('takes words as they are, not as patterns', () => {
    assert.deepEqual(titles({ text: '.*' }), [])
  })

  it('keeps the sessions of a folder and of those in it', () => {
    assert.deepEqual(titles({ folder: '/home/ann/shop' }), ['Fix the Café menu', 'Rename tests'])
    assert.deepEqual(titles({ folder: '/home/ann/shop/' }), ['Fix the Café menu', 'Rename tests'])
    assert.deepEqual(titles({ folder: '/home/ann/shop', text: 'rename' }), ['Rename tests'])
  })
})

describe('isWithin', () => {
  it('knows roots, Windows paths and neighbors', () => {
    assert(isWithin('/a', '/'))
    assert(isWithin('C:\\work\\a', 'c:/work'))
    assert(isWithin('C:\\work', 'c:\\work\\'))
    assert(!isWithin('/work-2', '/work'))
    assert(!isWithin('/', '/work'))
  })
})
