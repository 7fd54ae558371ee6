/** Finding text in a conversation. The host searches: it has all of it, the webview only a part. */
import { NotificationType } from 'vscode-jsonrpc'

/** More matches than this are not counted. */
export const FIND_LIMIT = 20_000

export interface FindResult {
  /** of the `find/start` that it answers */
  id: number
  /**
   * Three numbers for each entry: its index, how many matches stand in what shows of it while it is closed, and how many
   * in all of it. Those of `part: 'change'` replace what was told of these entries (0 matches: none any more).
   */
  hits: number[]
  part: 'whole' | 'change'
  /** The search goes on: more is told later. */
  searching: boolean
  /** There are more matches than are counted. */
  limited: boolean
  /** Nothing was searched, and why: a sentence. */
  problem?: string
}

/** host → webview: opens the find widget, or puts the cursor into it. */
export const ShowFind = new NotificationType<void>('find/show')
/** host → webview: what was found; sent again when the conversation changes. */
export const FindResults = new NotificationType<FindResult>('find/results')
