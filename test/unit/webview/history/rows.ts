import type { HistoryRow } from '../../../../src/bridge/history.ts'

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
