import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { AskOutside } from './outside-access.ts'

/** Asks in a dialog, since the agent waits and a notification is easily missed. Closing it refuses. */
export const askOutsideInDialog: AskOutside = async ({ path, realPath, operation }) => {
  const once = l10n.t('Allow Once')
  const session = l10n.t('Allow for This Session')
  const message =
    operation === 'read'
      ? l10n.t("The agent wants to read a file outside of this session's folders.")
      : l10n.t("The agent wants to write a file outside of this session's folders.")
  const detail = realPath === path ? path : l10n.t('{0}\nThis leads to {1}', path, realPath)
  const answer = await vscode.window.showWarningMessage(message, { modal: true, detail }, once, session)
  return answer === once ? 'once' : answer === session ? 'session' : 'refuse'
}
