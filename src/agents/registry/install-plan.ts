import { isDeepStrictEqual } from 'node:util'
import type { Distribution } from './registry-format.ts'

/** Everything that an installation and the start of the agent do. The user sees it before the installation starts. */
export interface InstallPlan {
  distribution: Distribution['type']
  version: string
  /** The command to run, or the URL to download. */
  action: string
  /** The path of the program in the archive. */
  program?: string
  /** The arguments for starting the agent; `env` is its environment. */
  args: string[]
  env: Record<string, string>
  /** The archive's checksum, in lowercase hexadecimal digits. */
  sha256?: string
  /** The required program that is missing. */
  missing?: 'npm' | 'uv'
}

/** A script from a package's manifest that npm runs when it installs the package. */
export interface InstallScript {
  /** The package's name and version. */
  package: string
  event: 'preinstall' | 'install' | 'postinstall'
  command: string
}

export type ScriptsAnswer = 'run' | 'skip' | 'cancel'

/**
 * Whether the user's confirmation of one plan covers the other. Missing programs are ignored, because they may have been installed in the
 * meantime.
 */
export function isSamePlan(plan: InstallPlan, confirmed: InstallPlan): boolean {
  return isDeepStrictEqual({ ...plan, missing: undefined }, { ...confirmed, missing: undefined })
}
