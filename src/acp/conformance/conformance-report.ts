export type ProtocolVersion = 1 | 2

/** The subjects of checks, in the order of the report. */
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
  /** the URL of the specification's section */
  section: string
  status: CheckStatus
  /** why the check failed or wasn't made */
  detail?: string
  /** the messages that were sent and received during a failed check, with secrets redacted */
  traffic?: string[]
}

export interface VersionReport {
  version: ProtocolVersion
  /** The agent supports this version. Otherwise, nothing was checked. */
  isSpoken: boolean
  results: CheckResult[]
}

export interface ConformanceReport {
  /** the name and the version that the agent reports */
  agent: string
  /** the agent's command, or its address */
  command: string
  withPrompts: boolean
  versions: VersionReport[]
  /** why nothing could be checked */
  problem?: string
}

/** Whether an agent passed all checks that were made. */
export function conforms({ versions, problem }: ConformanceReport): boolean {
  return (
    problem === undefined &&
    versions.every(({ results }) => results.every(({ status }) => status !== 'failed'))
  )
}
