import { findNodeAtLocation, getNodeValue, parseTree } from 'jsonc-parser'
import * as vscode from 'vscode'
import { MAX_RULES_FILE } from '../common/limits.ts'
import { readPermissionRules } from '../sessions/permission-rules/read-rules.ts'
import type { PermissionRule } from '../sessions/permission-rules/rule.ts'

/** Selects a rule in a settings file; resolves to false if the file doesn't contain it. `within`: the path of the settings in the JSON. */
export async function selectRule(
  document: vscode.TextDocument,
  within: readonly string[],
  { text, action }: Pick<PermissionRule, 'text' | 'action'>,
): Promise<boolean> {
  const content = document.getText()
  const root = content.length > MAX_RULES_FILE ? undefined : parseTree(content)
  const rules = root && findNodeAtLocation(root, [...within, 'parley.permissionRules'])
  const node = rules?.children?.find(one => {
    const [rule] = readPermissionRules([{ scope: 'user', value: [getNodeValue(one)] }]).rules
    return rule?.text === text && rule.action === action
  })
  if (!node) return false
  const start = document.positionAt(node.offset)
  const selection = new vscode.Range(start, document.positionAt(node.offset + node.length))
  await vscode.window.showTextDocument(document, { selection })
  return true
}
