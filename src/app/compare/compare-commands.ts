import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { UnavailableError } from '../../common/errors.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { Workbench } from '../workbench.ts'
import type { ComparePage } from './compare-page.ts'
import type { Comparisons, StoredComparison } from './comparisons.ts'

interface CompareCommandOptions {
  workbench: Workbench
  surfaces: Pick<ConversationSurfaces, 'active'>
  comparisons: Pick<Comparisons, 'list'>
  comparePage: Pick<ComparePage, 'show' | 'actions'>
}

const fromPage = z.object({ conversation: z.string() })

/** Returns *Send to Several Agents…* and *Show Comparison…*. */
export function compareCommands(options: CompareCommandOptions) {
  const { workbench, comparisons, comparePage, surfaces } = options
  return {
    [CommandId.sendTo]: async (context: unknown) => {
      const { success, data } = fromPage.safeParse(context)
      // the page first adds its attachments and stores the draft, and then runs the command again
      if (!success && surfaces.active.sendTo()) return
      if (!workbench.isTrusted)
        throw new UnavailableError(l10n.t("Agents don't start until you trust this workspace."))
      const actions = await comparePage.actions()
      await actions.sendTo(success ? data.conversation : surfaces.active.controller.key)
    },
    [CommandId.showComparison]: async () => {
      const all = comparisons.list()
      if (all.length === 0) {
        throw new UnavailableError(
          l10n.t(
            'There are no comparisons. To start one, write a prompt and run Parley: Send to Several Agents….',
          ),
        )
      }
      const picked = all.length === 1 ? all[0] : (await pick(options, all))?.comparison
      if (picked) comparePage.show(picked.id)
    },
  } satisfies Partial<CommandHandlers>
}

function pick({ workbench: { dialogs, language } }: CompareCommandOptions, all: readonly StoredComparison[]) {
  const items = all.map(comparison => ({
    label: comparison.title || l10n.t('Untitled session'),
    icon: 'git-compare',
    description: new Date(comparison.at).toLocaleString(language),
    detail: comparison.participants.map(({ agentName }) => agentName).join(' · '),
    comparison,
  }))
  return dialogs.pick(items, {
    title: l10n.t('Comparisons'),
    placeholder: l10n.t('Select a comparison'),
    matchOnDetail: true,
  })
}
