import type { HistoryRow, HistorySummary } from '../../../../src/bridge/history.ts'

/** What a host sends besides the rows when there is nothing to say. */
export const plainSummary = {
  agents: [],
  trusted: true,
  hasFolder: true,
  storage: { used: 0, max: 0 },
  search: {},
  deleted: [],
} satisfies HistorySummary

/** A row as a host sends it, with defaults for what a test doesn't define. */
export function historyRow(sessionId: string, more: Partial<HistoryRow> = {}): HistoryRow {
  return {
    agentId: 'a',
    agentName: 'Agent',
    sessionId,
    title: `Session ${sessionId}`,
    untitled: false,
    cwd: '/p',
    folder: 'p',
    here: true,
    open: false,
    canLoad: true,
    canResume: true,
    canClose: false,
    canDelete: false,
    deletesCopy: false,
    canFork: false,
    canArchive: false,
    archived: false,
    pinned: false,
    ...more,
  }
}
