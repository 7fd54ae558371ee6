import * as vscode from 'vscode'
import { CommandId } from '../app/ids.ts'
import { readSetting } from './settings.ts'

const FIX = vscode.CodeActionKind.QuickFix.append('parley')
const EXPLAIN = vscode.CodeActionKind.Empty.append('parley.explain')

/**
 * Returns *Fix with Parley* and *Explain with Parley*. VS Code lists them after the actions of languages, because they don't name the
 * problems that they solve and because their provider is for all languages. When VS Code requests code actions automatically, they are
 * offered only for errors and warnings, so that no light bulb appears for every selection or spelling hint.
 */
export function codeActions(
  { uri }: vscode.TextDocument,
  range: vscode.Range,
  { diagnostics, only, triggerKind }: vscode.CodeActionContext,
): vscode.CodeAction[] {
  if (!vscode.workspace.isTrusted || !readSetting('codeActions')) return []
  const asked = triggerKind === vscode.CodeActionTriggerKind.Invoke
  const serious = diagnostics.filter(({ severity }) => asked || severity <= vscode.DiagnosticSeverity.Warning)
  const wanted = (kind: vscode.CodeActionKind) => !only || only.contains(kind)
  const actions: vscode.CodeAction[] = []
  const add = (title: string, kind: vscode.CodeActionKind, command: string) => {
    if (!wanted(kind)) return
    const action = new vscode.CodeAction(title, kind)
    action.command = { title, command, arguments: [uri, range] }
    actions.push(action)
  }
  if (serious.length > 0) {
    add(vscode.l10n.t('Fix with Parley'), FIX, CommandId.fix)
    add(vscode.l10n.t('Explain with Parley'), FIX, CommandId.explain)
  } else if (asked && !range.isEmpty) add(vscode.l10n.t('Explain with Parley'), EXPLAIN, CommandId.explain)
  return actions
}
