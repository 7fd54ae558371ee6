import assert from 'node:assert/strict'
import { tabTitles } from '../../../src/app/conversation/tab-titles.ts'

describe('the titles of conversation tabs', () => {
  const of = (...tabs: Array<[title: string, agent?: string]>) =>
    tabTitles(tabs.map(([title, agent]) => ({ title, agent })))

  it('are those of the sessions if they differ', () => {
    assert.deepEqual(of(['Fix the build', 'Codex'], ['Fix the tests', 'Codex']), [
      'Fix the build',
      'Fix the tests',
    ])
  })

  it('say the agents, and else their numbers, if they are alike', () => {
    assert.deepEqual(of(['Fix', 'Codex'], ['Fix', 'Claude Code'], ['Other', 'Codex'], ['Fix', 'Codex']), [
      'Fix (Codex)',
      'Fix (Claude Code)',
      'Other',
      'Fix (Codex) 2',
    ])
    assert.deepEqual(of(['Fix', 'Codex'], ['Fix', 'Codex']), ['Fix', 'Fix 2'])
  })

  it('number the tabs without a session', () => {
    assert.deepEqual(of(['Codex', 'Codex'], ['Codex', 'Codex'], ['Claude Code', 'Claude Code']), [
      'Codex',
      'Codex 2',
      'Claude Code',
    ])
  })
})
