import type { Entry, SessionActivity } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { type PathRoots, titleParts } from '../../tools/title.ts'

/** The word for what the agent does now; `code` is a command or a file, set apart. */
export interface ActivityWord {
  text: string
  code?: string
}

/** What the agent does, told from the last thing it said. */
export function activityWord(
  activity: SessionActivity,
  last: Entry | undefined,
  waiting: number,
  roots: PathRoots | undefined,
  unconfirmed = false,
): ActivityWord {
  if (activity === 'requires_action' || waiting > 0) return { text: t('Waiting for your answer') }
  if (unconfirmed) return { text: t('Status unknown') }
  if (last?.kind === 'message' && last.role === 'thought' && last.endedAt === undefined)
    return { text: t('Thinking') }
  if (last?.kind === 'message' && last.role === 'agent') return { text: t('Writing') }
  if (last?.kind === 'compaction' && last.status === 'in_progress') return { text: t('Compacting') }
  if (last?.kind === 'tool_call' && (last.status === 'in_progress' || last.status === 'pending')) {
    const title = titleParts(last.title, roots)
    switch (last.toolKind) {
      case 'execute':
        return { text: t('Running'), code: title.full }
      case 'read':
        return { text: t('Reading'), code: title.tail }
      case 'edit':
        return { text: t('Editing'), code: title.tail }
      case 'search':
        return { text: t('Searching') }
      case 'fetch':
        return { text: t('Fetching') }
      case 'think':
        return { text: t('Thinking') }
      default:
        return { text: t('Working') }
    }
  }
  return { text: t('Working') }
}
