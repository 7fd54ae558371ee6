/** Merges unsaved changes of a document with what agents wrote to disk in the meantime. VS Code refuses to save such a document. */
import { basename } from 'node:path'
import * as l10n from '@vscode/l10n'
import type { ChangeTracker } from '../../changes/change-tracker.ts'
import type { Disposable } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { MergedTexts } from '../../editor/files/merge-texts.ts'
import type { Workbench } from '../workbench.ts'

export interface MergeServices {
  workbench: Pick<Workbench, 'dialogs' | 'editors'>
  tracker: ChangeTracker
}

/** Offers to merge when an agent changes a file that has unsaved changes. Disposing the result stops this. */
export function offerMerges(services: MergeServices): Disposable {
  return services.tracker.disk.onDidConflict(path => {
    const text = l10n.t('An agent changed {0} on disk while it has unsaved changes.', nameOf(path))
    // notebooks and custom editors have no text to merge
    if (services.tracker.files.isUnsavedElsewhere(path)) void services.workbench.dialogs.warn(text)
    else void mergeUnsaved(path, { text, merge: l10n.t('Merge and Save') }, services)
  })
}

/**
 * Asks whether to merge a file's unsaved changes with its content on disk, and which side wins in conflicts. `text` is the reason, `merge`
 * the label of the button. Resolves to whether the changes were merged.
 */
export async function mergeUnsaved(
  path: string,
  { text, merge }: { text: string; merge: string },
  { workbench, tracker }: MergeServices,
): Promise<boolean> {
  const { dialogs } = workbench
  const before = await tracker.review.unsavedMerge(path)
  if (!before || (await dialogs.warn(text, merge)) !== merge) return false
  try {
    // asks again if the file or its unsaved changes changed before each answer
    for (;;) {
      const merged = await tracker.review.unsavedMerge(path)
      if (!merged) return false
      const take = merged.conflicts.length === 0 ? 'mine' : await askWhose(path, merged, workbench)
      if (!take) return false
      if (await tracker.review.merge(path, take, merged)) return true
    }
  } catch (error) {
    void dialogs.error(
      l10n.t("Couldn't merge the changes in {0}: {1}", nameOf(path), plainMessage(messageOf(error))),
    )
    return false
  }
}

async function askWhose(
  path: string,
  { mine, theirs }: MergedTexts,
  { dialogs, editors }: MergeServices['workbench'],
): Promise<'mine' | 'theirs' | undefined> {
  const title = l10n.t("{0} (Agent's Lines ↔ Yours)", basename(path))
  await editors.openDiff(path, { oldText: theirs, newText: mine }, title)
  const text = l10n.t('You and the agent changed the same lines in {0}. Whose lines stay?', nameOf(path))
  const own = l10n.t('Keep My Lines')
  const other = l10n.t("Use the Agent's Lines")
  const answer = await dialogs.warn(text, own, other)
  return answer === own ? 'mine' : answer === other ? 'theirs' : undefined
}

function nameOf(path: string): string {
  return plainMessage(basename(path))
}
