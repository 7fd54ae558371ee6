import assert from 'node:assert/strict'
import type { Command } from '../../../../src/acp/model.ts'
import {
  calledCommand,
  commandQuery,
  matchCommands,
} from '../../../../src/webview/conversation/composer/completion.ts'
import { PromptHistory } from '../../../../src/webview/conversation/composer/prompt-history.ts'
import { matchChoices } from '../../../../src/webview/ui/menu.tsx'

describe('composer: commands', () => {
  const commands: Command[] = [
    { name: 'preview', description: 'Show it' },
    { name: 'review', description: 'Look at changes', hint: 'branch' },
    { name: 'compact', description: 'Make a review smaller' },
  ]

  it('are suggested while their name is typed', () => {
    assert.equal(commandQuery('/re', 3), 're')
    assert.equal(commandQuery('/', 1), '')
    assert.equal(commandQuery('/re', 0), undefined)
    assert.equal(commandQuery('/review now', 11), undefined)
    assert.equal(commandQuery('a /re', 5), undefined)
  })

  it('are sorted by match', () => {
    assert.deepEqual(
      matchCommands(commands, 're').map(command => command.name),
      ['review', 'preview', 'compact'],
    )
    assert.deepEqual(matchCommands(commands, 'zzz'), [])
  })

  it('are recognized when complete', () => {
    assert.equal(calledCommand(commands, '/review main')?.hint, 'branch')
    assert.equal(calledCommand(commands, '/rev'), undefined)
  })
})

describe('composer: prompt history', () => {
  it('moves back and forth, and restores the draft', () => {
    const history = new PromptHistory()
    const list = ['one', 'two', 'two']
    assert.equal(history.older(list, 'draft'), 'two')
    assert.equal(history.older(list, 'two'), 'one')
    assert.equal(history.older(list, 'one'), undefined)
    assert.equal(history.newer(), 'two')
    assert.equal(history.newer(), 'draft')
    assert.equal(history.newer(), undefined)
    assert.equal(history.isWalking, false)
  })

  it('continues with older prompts that load later', () => {
    const history = new PromptHistory()
    history.prepend(['nobody walks'])
    assert.equal(history.older(['three', 'four'], 'draft'), 'four')
    history.prepend(['one', 'three'])
    assert.equal(history.older([], ''), 'three')
    assert.equal(history.older([], ''), 'one')
    assert.equal(history.older([], ''), undefined)
    history.prepend(['zero'])
    assert.equal(history.older([], ''), 'zero')
    for (const expected of ['one', 'three', 'four', 'draft']) assert.equal(history.newer(), expected)
  })

  it('is empty without prompts', () => {
    const history = new PromptHistory()
    assert.equal(history.older([], 'draft'), undefined)
  })
})

describe('composer: choices', () => {
  it('match all words in name, value and group, best first', () => {
    const choices = [
      { value: 'p/gpt-5', name: 'GPT 5', group: 'OpenAI' },
      { value: 'p/opus', name: 'Opus 4', group: 'Anthropic' },
      { value: 'x', name: 'Not Opus' },
    ]
    assert.deepEqual(
      matchChoices(choices, 'opus').map(choice => choice.value),
      ['p/opus', 'x'],
    )
    assert.deepEqual(
      matchChoices(choices, 'anthropic 4').map(choice => choice.value),
      ['p/opus'],
    )
    assert.equal(matchChoices(choices, ' '), choices)
  })
})
