import assert from 'node:assert/strict'
import { parse } from 'jsonc-parser'
import * as vscode from 'vscode'

interface Keybinding {
  key: string
  command: string
  when?: string
}

/**
 * Keys that Parley shares on purpose: VS Code's own commands don't work while a webview has the focus, and write no file in the diff
 * of an agent in a terminal. The keys of a review are those of VS Code's own review of agents' edits, and a plan can't be edited.
 */
const shared = new Set([
  ...['ctrl+f', 'ctrl+s', 'ctrl+shift+o', 'ctrl+k ctrl+0', 'ctrl+k ctrl+j'],
  ...['ctrl+y', 'ctrl+n', 'ctrl+z', 'alt+f5', 'shift+alt+f5', 'ctrl+enter', 'ctrl+shift+enter'],
])

/** Keys that the conversation's page handles, which VS Code gets too. */
const pageKeys = [
  ...['alt+up', 'alt+down', 'alt+home', 'alt+end', 'alt+shift+down', 'shift+alt+down', 'alt+enter'],
  ...['ctrl+enter', 'ctrl+backspace', 'ctrl+.'],
]

/** Conditions in `when` clauses that are false while a webview has the focus. */
const otherFocus = new RegExp(
  [
    ...['focus', 'inChat', 'inQuickInput', 'inlineChatVisible', 'terminalChatResponse', 'accessibleView'],
    ...[
      'codeActionMenuVisible',
      'scmRepository',
      'isMergeEditor',
      'chatAttachmentResource',
      'breadcrumbsActive',
      // in an editor
      '(drop|paste)WidgetVisible',
    ],
    // a modal editor covers the views; the interactive window uses Ctrl+Enter wherever the focus is
    ...['editorPartModal', "activeEditor == 'workbench.editor.interactive'", '^false$'],
  ].join('|'),
  'i',
)

describe('the default keybindings', () => {
  const extension = vscode.extensions.getExtension<unknown>('parley.parley')!
  const ours = extension.packageJSON.contributes.keybindings as Keybinding[]

  let defaults: Keybinding[]

  before(async () => {
    const document = await vscode.workspace.openTextDocument(
      vscode.Uri.parse('vscode://defaultsettings/keybindings.json'),
    )
    defaults = (parse(document.getText()) as Keybinding[]).filter(
      ({ command }) => !command.startsWith('parley.'),
    )
    assert.ok(defaults.length > 500, `${defaults.length} defaults`)
  })

  it("don't conflict with the conversation's keys", () => {
    const others = defaults
      .filter(({ key, when = '' }) => pageKeys.includes(key) && !otherFocus.test(when))
      .map(({ key, command, when }) => `${key}: ${command} when ${when}`)
    assert.deepEqual(others, [])
  })

  it("don't conflict with VS Code's defaults, nor with the start of their chords", () => {
    const taken = new Map(defaults.map(({ key, command }) => [key, command]))
    const chords = new Set(defaults.map(({ key }) => key.split(' ')[0]))
    for (const { key, when } of ours) {
      if (shared.has(key)) {
        assert.match(when ?? '', /conversationFocus|parley-terminal|reviewKeys|plansTo/, key)
        continue
      }
      const [first = ''] = key.split(' ')
      assert.equal(taken.get(key), undefined, key)
      assert.equal(taken.get(first), undefined, `${key} begins with a key of its own`)
      assert.equal(chords.has(first), false, `${first} begins another chord`)
    }
  })
})
