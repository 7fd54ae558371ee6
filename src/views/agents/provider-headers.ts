import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'

/** What HTTP takes as a header's name (RFC 9110, token). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

type Item = vscode.QuickPickItem & { take: 'done' | 'add' | { name: string } }

/** Lets the person add and remove headers; values are not shown. `undefined`: they went away. */
export async function askHeaders(
  title: string,
  before: Record<string, string>,
): Promise<Record<string, string> | undefined> {
  const headers = new Map(Object.entries(before))
  for (;;) {
    const items: Item[] = [
      { label: `$(check) ${l10n.t('Done')}`, take: 'done' },
      { label: `$(add) ${l10n.t('Add Header…')}`, take: 'add' },
      ...[...headers.keys()].map(name => ({
        label: `$(trash) ${l10n.t('Remove {0}', name)}`,
        description: '••••••',
        take: { name },
      })),
    ]
    const picked = await vscode.window.showQuickPick(items, {
      title,
      placeHolder: l10n.t(
        "Headers to send with each request, such as an API key. Stored in VS Code's secret storage.",
      ),
      ignoreFocusOut: true,
    })
    if (!picked) return undefined
    if (picked.take === 'done') return Object.fromEntries(headers)
    if (picked.take === 'add') await addHeader(title, headers)
    else headers.delete(picked.take.name)
  }
}

async function addHeader(title: string, headers: Map<string, string>): Promise<void> {
  const name = await vscode.window.showInputBox({
    title,
    prompt: l10n.t('Header name, such as Authorization'),
    ignoreFocusOut: true,
    validateInput: text => (NAME.test(text.trim()) ? undefined : l10n.t('Invalid header name.')),
  })
  if (name === undefined) return
  const value = await vscode.window.showInputBox({
    title,
    prompt: l10n.t("{0}. Stored in VS Code's secret storage.", name.trim()),
    password: true,
    ignoreFocusOut: true,
    validateInput: text => (/[\r\n\0]/.test(text) ? l10n.t('Invalid header value.') : undefined),
  })
  if (value !== undefined) headers.set(name.trim(), value)
}
