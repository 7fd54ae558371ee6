import type { CheckGroup, ProtocolVersion } from './conformance-report.ts'
import type { ConformanceRun } from './conformance-run.ts'

/** A check of one thing that the specification requires of an agent. */
export interface ConformanceCheck {
  /** the id for `--skip` and for programs */
  id: string
  group: CheckGroup
  /** returns what a conforming agent does, as a sentence */
  title(): string
  /** returns the rule of the specification, which explains a failure */
  rule(): string
  /** the page of the specification, relative to the version's page, or a URL */
  section: string | { 1: string; 2: string }
  /** The only protocol version that has this check; both by default. */
  only?: ProtocolVersion
  /** The check sends a prompt, or needs a session that had a prompt. */
  prompts?: true
  /** The check is about the agent's process. */
  process?: true
  /**
   * Runs the check. Passes if the promise resolves. Throws {@link CheckFailed}, {@link NotOffered}, {@link NotChecked}, or an error of the
   * agent's process.
   */
  run(run: ConformanceRun): Promise<void>
}
