import type { HistoryRow } from '../../bridge/history.ts'
import { t } from '../l10n.ts'

/** The text for a worktree and its branch. */
export function worktreeText({ name, branch }: NonNullable<HistoryRow['worktree']>): string {
  return branch === undefined ? t('{0} (removed)', name) : t('{0} ({1})', name, branch)
}
