import * as l10n from '@vscode/l10n'
import { visible } from '../common/visible.ts'
import type { OtherSession, WindowSessions } from './window-sessions.ts'
import type { Workbench } from './workbench.ts'

/** Shows a session in the window that has it. Activates that window if VS Code can find it by its folder. */
export async function showInWindow(
  other: OtherSession,
  { windows, workbench }: { windows: Pick<WindowSessions, 'request'>; workbench: Workbench },
): Promise<void> {
  windows.request(other)
  const { workspace } = other.window
  if (workspace !== undefined && (await workbench.focusWindow(workspace))) return
  const title = visible(other.title ?? '') || l10n.t('Untitled session')
  void workbench.dialogs.info(
    l10n.t('“{0}” was opened in its own window. Switch to that window to see it.', title),
  )
}
