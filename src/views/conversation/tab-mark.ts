import * as vscode from 'vscode'
import type { SessionMark } from '../../sessions/session-marks.ts'

/**
 * What a session does, as the icon of its tab: a mark of another shape for each, beside Parley's own. An icon is drawn as it
 * is, other than the one of the activity bar.
 */
export function markedIcon(
  extensionUri: vscode.Uri,
  mark: SessionMark,
): { light: vscode.Uri; dark: vscode.Uri } {
  const name = mark === 'idle' ? 'parley' : `parley-${mark}`
  const file = (theme: string) => vscode.Uri.joinPath(extensionUri, 'media', `${name}-${theme}.svg`)
  return { light: file('light'), dark: file('dark') }
}
