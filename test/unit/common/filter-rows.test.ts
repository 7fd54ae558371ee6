import { strict as assert } from 'node:assert'
import { filterRows, isWithin } from '../../../src/common/filter-rows.ts'

const rows = [
  { title: 'Fix the Café menu', cwd: '/home/ann/shop', agentName: 'Claude' },
  { title: 'Rename tests', cwd: '/home/ann/shop/api', agentName: 'Codex' },
  { title: 'Shopping list', cwd: '/home/ann/shopping', agentName: 'Codex', sessionId: '01a1f851' },
]
const titles = (filter: Parameters<typeof filterRows>[1]) => filterRows(rows, filter).map(row => row.title)

describe('filterRows', () => {
  it('returns all rows without a filter', () => {
    assert.equal(filterRows(rows, {}).length, 3)
    assert.equal(filterRows(rows, { text: '  ' }).length, 3)
  })

  it('matches all words in any order, ignoring case and accents', () => {
    assert.deepEqual(titles({ text: 'cafe FIX' }), ['Fix the Café menu'])
    assert.deepEqual(titles({ text: 'codex api' }), ['Rename tests'])
    assert.deepEqual(titles({ text: 'café nothing' }), [])
    assert.deepEqual(titles({ text: '01A1' }), ['Shopping list'])
  })

  it('matches earlier titles of a session', () => {
    const row = { title: 'Session 7', cwd: '/w', formerTitles: ['Fix the parser', 'Parser'] }
    assert.deepEqual(filterRows([row], { text: 'fix parser' }), [row])
    assert.deepEqual(filterRows([row], { text: 'lexer' }), [])
  })

  it('matches words literally, not as patterns', () => {
    assert.deepEqual(titles({ text: '.*' }), [])
  })

  it('matches the sessions in a folder and its subfolders', () => {
    assert.deepEqual(titles({ folder: '/home/ann/shop' }), ['Fix the Café menu', 'Rename tests'])
    assert.deepEqual(titles({ folder: '/home/ann/shop/' }), ['Fix the Café menu', 'Rename tests'])
    assert.deepEqual(titles({ folder: '/home/ann/shop', text: 'rename' }), ['Rename tests'])
  })
})

describe('isWithin', () => {
  it('handles roots, Windows paths and siblings', () => {
    assert(isWithin('/a', '/'))
    assert(isWithin('C:\\work\\a', 'c:/work'))
    assert(isWithin('C:\\work', 'c:\\work\\'))
    assert(!isWithin('/work-2', '/work'))
    assert(!isWithin('/', '/work'))
  })
})
