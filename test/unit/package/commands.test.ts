import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONTRIBUTED_COMMANDS, CommandId, ContextKey } from '../../../src/app/ids.ts'
import { projectDirectory } from '../../host/paths.ts'
import { holds } from '../../support/page/editor/when.ts'

interface Contributed {
  commands: Array<{ command: string }>
  menus: Record<string, Array<{ command?: string; when?: string; group?: string }>>
  keybindings: Array<{ command: string; key: string; mac?: string }>
}

describe('the commands of package.json', () => {
  const manifest = JSON.parse(readFileSync(join(projectDirectory, 'package.json'), 'utf8'))
  const { commands, menus, keybindings } = manifest.contributes as Contributed

  it('are those that have a handler', () => {
    const contributed = commands.map(({ command }) => command)
    assert.deepEqual(contributed.toSorted(), [...CONTRIBUTED_COMMANDS].sort())
  })

  it('are the only ones in menus and keybindings', () => {
    const used = [...Object.values(menus).flat(), ...keybindings].flatMap(({ command }) => command ?? [])
    const known = new Set<string>(CONTRIBUTED_COMMANDS)
    assert.deepEqual(
      used.filter(command => command.startsWith('parley.') && !known.has(command)),
      [],
    )
  })

  it('are at most eight in the menus of a conversation', () => {
    const shown = (menu: string, values: Record<string, unknown>) =>
      menus[menu]!.filter(
        ({ when, group }) => !/^navigation/.test(group ?? '') && holds(when, key => values[key]),
      )
    for (const historyShown of [false, true])
      assert.ok(
        shown('view/title', { view: 'parley.conversation', 'parley.historyShown': historyShown }).length <= 8,
      )
    for (const webviewSection of ['conversation', 'prompt', 'message', 'work']) {
      const values = { webviewId: 'parley.conversation', webviewSection, parleyCanFork: true }
      const { length } = shown('webview/context', values)
      assert.ok(length > 1 && length <= 8, `${webviewSection}: ${length}`)
    }
  })

  it('have the same keys on macOS, with Cmd instead of Ctrl', () => {
    for (const { key, mac } of keybindings) assert.equal(mac, key.replaceAll('ctrl+', 'cmd+'), key)
  })

  it('have their keys in the help', () => {
    const table = readFileSync(join(projectDirectory, 'media/help/keyboard-shortcuts.md'), 'utf8')
    const names: Record<string, string> = { up: '↑', down: '↓' }
    for (const { key } of keybindings) {
      const [first = '', second] = key.split(' ')
      const one = first.replace(/(^|\+)[a-z]/g, letter => letter.toUpperCase())
      const two = second && (names[second] ?? second.toUpperCase())
      const row = table.split('\n').find(line => {
        const keys = [...line.matchAll(/<kbd>(.*?)<\/kbd>/g)].map(([, name]) => name)
        return keys[0] === one && (!two || keys.includes(two))
      })
      assert.ok(row, key)
    }
  })

  it('that need a conversation, a prompt, a restore or a repository are hidden from the palette without one', () => {
    const conditions = new Map(menus.commandPalette?.map(({ command, when }) => [command, when]))
    const need = (key: string, ...names: Array<keyof typeof CommandId>) => {
      for (const name of names) assert.equal(conditions.get(CommandId[name]), key, name)
    }
    need(
      ContextKey.hasSession,
      'copyConversation',
      'exportConversation',
      'openConversationAsDocument',
      'newSessionWithConversation',
      'find',
      'renameSession',
    )
    need(
      ContextKey.hasPrompts,
      'copyMessage',
      'quoteSelection',
      'editPrompt',
      'sendAgain',
      'restoreCheckpoint',
    )
    need(ContextKey.hasPrompts, 'previousTurn', 'nextTurn', 'firstTurn', 'latest')
    need(ContextKey.canUndoRestore, 'undoRestore')
    need(ContextKey.questionWaits, 'nextQuestion')
    need(ContextKey.canUndoDecision, 'undoDecision')
    // of VS Code's Git extension
    need('gitOpenRepositoryCount > 0', 'newSessionInWorktree', 'sendTo')
  })
})
