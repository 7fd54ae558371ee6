/** Agents' changes as the editor's own views get them: copied, as over a wire. */
import { EditorChanges } from '../../src/app/changes/editor-changes.ts'
import { EditorDecisions } from '../../src/app/changes/editor-decisions.ts'
import type { ChangeTracker } from '../../src/changes/change-tracker.ts'
import type { ChangeScope } from '../../src/changes/session-changes.ts'
import { Emitter } from '../../src/common/event.ts'
import { copied } from './page/editor/copied.ts'

/** `confirm`: answers the questions before changes are reverted. `changesOf`: of an open session. */
export function editorChanges(
  tracker: ChangeTracker,
  confirm: (question: string) => Promise<string | undefined> = async () => 'Revert',
  changesOf: (session: string) => ChangeScope | undefined = () => undefined,
) {
  const changes = new EditorChanges({
    ...{ tracker, changesOf },
    titleOf: session => session,
    onDidChangeTitles: new Emitter<void>().event,
  })
  const decisions = new EditorDecisions({
    ...{ tracker, changes },
    workbench: { dialogs: { confirm }, folders: [], editors: {} },
    sessions: { list: () => [] },
    decisions: { keep: (scope: ChangeScope, selection: object) => scope.keep(selection), tell: () => {} },
  } as unknown as ConstructorParameters<typeof EditorDecisions>[0])
  return { changes: copied(changes), decisions: copied(decisions) }
}
