import type { CheckGroup, ProtocolVersion } from './conformance-report.ts'
import type { ConformanceRun } from './conformance-run.ts'

/** One thing that the specification demands of an agent. */
export interface ConformanceCheck {
  /** for `--skip` and for programs */
  id: string
  group: CheckGroup
  /** what a conforming agent does */
  title(): string
  /** what the specification says, with which a failure is explained */
  rule(): string
  /** the page of the specification, below that of the version */
  section: string | { 1: string; 2: string }
  /** Default: both versions. */
  only?: ProtocolVersion
  /** The check sends a prompt, or needs a session that had a prompt. */
  prompts?: true
  /** It's about the agent's process. */
  process?: true
  /** Passes if it resolves. Throws {@link CheckFailed}, {@link NotOffered}, {@link NotChecked}, or an error of the agent's process. */
  run(run: ConformanceRun): Promise<void>
}
