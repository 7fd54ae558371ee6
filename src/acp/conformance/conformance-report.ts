export type ProtocolVersion = 1 | 2

/** What a check is about, in the order of the report. */
export type CheckGroup =
  | 'initialization'
  | 'sessions'
  | 'prompts'
  | 'cancellation'
  | 'errors'
  | 'messages'
  | 'process'

export type CheckStatus = 'passed' | 'failed' | 'notOffered' | 'notChecked'

export interface CheckResult {
  id: string
  group: CheckGroup
  title: string
  rule: string
  /** the address of the section */
  section: string
  status: CheckStatus
  /** why it failed or wasn't checked */
  detail?: string
  /** what was sent and received meanwhile, secrets redacted; only if it failed */
  traffic?: string[]
}

export interface VersionReport {
  version: ProtocolVersion
  /** The agent uses this version. If not, nothing was checked. */
  isSpoken: boolean
  results: CheckResult[]
}

export interface ConformanceReport {
  /** what the agent says of itself */
  agent: string
  /** the command, or the address */
  command: string
  withPrompts: boolean
  versions: VersionReport[]
  /** why nothing could be checked */
  problem?: string
}

/** Whether an agent conforms as far as it was checked. */
export function conforms({ versions, problem }: ConformanceReport): boolean {
  return (
    problem === undefined &&
    versions.every(({ results }) => results.every(({ status }) => status !== 'failed'))
  )
}
