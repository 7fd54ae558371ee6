import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandId, ContextKey } from '../../../src/app/ids.ts'
import { projectDirectory } from '../../host/paths.ts'
import { holds } from '../../support/page/editor/when.ts'

interface Contributed {
  commands: Array<{ command: string; title: string; icon?: unknown }>
  menus: Record<string, Array<{ command?: string; when?: string; group?: string }>>
  keybindings: Array<{ command: string; key: string; mac?: string }>
}

describe('the commands of package.json', () => {
  const manifest = JSON.parse(readFileSync(join(projectDirectory, 'package.json'), 'utf8'))
  const { commands, menus, keybindings } = manifest.contributes as Contributed

  it('are at most eight in the menus of a conversation and of a session in History', () => {
    const shown = (menu: string, values: Record<string, unknown>) =>
      menus[menu]!.filter(
        ({ when, group }) => !/^navigation/.test(group ?? '') && holds(when, key => values[key]),
      )
    for (const historyShown of [false, true])
      assert.ok(
        shown('view/title', { view: 'parley.conversation', 'parley.historyShown': historyShown }).length <= 8,
      )
    for (const webviewSection of ['conversation', 'prompt', 'message', 'work']) {
      const { length } = shown('webview/context', { webviewId: 'parley.conversation', webviewSection })
      // with Cut, Copy and Paste of VS Code
      assert.ok(length > 1 && 3 + length <= 8, `${webviewSection}: ${length}`)
    }
    const session = {
      ...{ webviewId: 'parley.conversation', webviewSection: 'session' },
      ...{ parleyCanFork: true, parleyCanArchive: true, parleyCanDelete: true },
    }
    for (const values of [
      { ...session, parleyCanLoad: true, parleyCanResume: true },
      { ...session, parleyOpen: true, parleyCanClose: true },
    ])
      assert.equal(shown('webview/context', values).length, 8)
  })

  it('have one icon for one meaning', () => {
    const titles = new Map<string, Set<string>>()
    for (const { icon, title } of commands)
      if (typeof icon === 'string')
        titles.set(icon, (titles.get(icon) ?? new Set()).add(title.replaceAll(/%commands\.|%/g, '')))
    const shared = [...titles].flatMap(([icon, of]) => (of.size > 1 ? [[icon, [...of].sort()]] : []))
    assert.deepEqual(Object.fromEntries(shared), {
      '$(check)': ['acceptDiff', 'acceptPlan', 'comments.resolve', 'keepChange'],
      '$(check-all)': ['keepAllChanges', 'keepFileChanges'],
      '$(discard)': ['revertAllChanges', 'revertChange', 'revertFileChanges'],
      '$(link-external)': ['openHistoryInTab', 'openInTab'],
    })
  })

  it('are at most fifty in the palette; all others are in a menu, have a key, or are what a page does', () => {
    const hidden = new Set(
      menus.commandPalette!.filter(({ when }) => when === 'false').map(({ command }) => command),
    )
    assert.ok(commands.length - hidden.size <= 50, String(commands.length - hidden.size))
    const inMenus = Object.entries(menus).flatMap(([menu, entries]) =>
      menu === 'commandPalette' ? [] : entries.map(({ command }) => command),
    )
    const reached = new Set([...inMenus, ...keybindings.map(({ command }) => command)])
    const isReached = (command = '') =>
      ['parley.', 'parley.sideBar.', 'parley.tab.'].some(prefix =>
        reached.has(command.replace('parley.', prefix)),
      )
    const { previousTurn, nextTurn, firstTurn, latest, nextQuestion, undoRestore, renameSession } = CommandId
    const { selectDefaultAgent, updateAgent, removeAgent } = CommandId
    const { addMcpServer, signInToMcpServer, signOutOfMcpServer } = CommandId
    const byPage: string[] = [
      CommandId.forkSession,
      CommandId.setSessionLimit,
      ...[previousTurn, nextTurn, firstTurn, latest, nextQuestion, undoRestore, renameSession],
      ...[selectDefaultAgent, updateAgent, removeAgent],
      ...[addMcpServer, signInToMcpServer, signOutOfMcpServer],
    ]
    assert.deepEqual([...hidden].filter(command => !isReached(command)).sort(), byPage.sort())
  })

  it('are found in the palette by the words that people type', () => {
    const texts: Record<string, string> = JSON.parse(
      readFileSync(join(projectDirectory, 'package.nls.json'), 'utf8'),
    )
    const found = (word: string) =>
      commands
        .filter(({ command }) =>
          menus.commandPalette!.every(entry => entry.command !== command || entry.when !== 'false'),
        )
        .filter(({ title }) => texts[title.slice(1, -1)]!.toLowerCase().includes(word))
    for (const word of ['stop', 'accept', 'review', 'outline', 'chat', 'fork', 'continue', 'history', 'undo'])
      assert.ok(found(word).length > 0, word)
  })

  it('have their keys in the help', () => {
    const table = readFileSync(join(projectDirectory, 'media/help/keyboard-shortcuts.md'), 'utf8')
    const names: Record<string, string> = { up: '↑', down: '↓' }
    for (const { key } of keybindings) {
      const [first = '', second] = key.split(' ')
      const one = first.replace(/(^|\+)[a-z]/g, letter => letter.toUpperCase())
      const two =
        second &&
        (names[second] ?? second.replace(/^ctrl/, 'Ctrl').replace(/\b[a-z]$/, letter => letter.toUpperCase()))
      const row = table.split('\n').find(line => {
        const keys = [...line.matchAll(/<kbd>(.*?)<\/kbd>/g)].map(([, name]) => name)
        return two ? keys[0] === one && keys.includes(two) : keys.includes(one)
      })
      assert.ok(row, key)
    }
  })

  it('that need a conversation, a prompt or a repository are hidden from the palette without one', () => {
    const conditions = new Map(menus.commandPalette?.map(({ command, when }) => [command, when]))
    const need = (key: string, ...names: Array<keyof typeof CommandId>) => {
      for (const name of names) assert.equal(conditions.get(CommandId[name]), key, name)
    }
    need(ContextKey.hasSession, 'exportConversation', 'continueSession')
    need(ContextKey.hasPrompts, 'outline', 'restoreCheckpoint')
    need(ContextKey.questionWaits, 'showQuestion')
    need(ContextKey.canUndoDecision, 'undoDecision')
    // of VS Code's Git extension
    need('gitOpenRepositoryCount > 0', 'newSessionInWorktree', 'sendTo')
  })
})
