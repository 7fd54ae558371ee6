import { isDeepStrictEqual } from 'node:util'
import type { Distribution } from './registry-format.ts'

/** Everything that an installation and the start of the agent do, shown before the installation starts. */
export interface InstallPlan {
  distribution: Distribution['type']
  version: string
  /** The command to run, or the URL to download. */
  action: string
  /** The program in an archive. */
  program?: string
  /** The arguments and environment for starting the agent. */
  args: string[]
  env: Record<string, string>
  /** The archive's checksum, in lowercase hexadecimal digits. */
  sha256?: string
  /** The required program that is missing: `npm`, `uv`. */
  missing?: 'npm' | 'uv'
}

/** A script that npm runs when it installs a package, as the package's manifest contains it. */
export interface InstallScript {
  /** The package's name and version. */
  package: string
  event: 'preinstall' | 'install' | 'postinstall'
  command: string
}

export type ScriptsAnswer = 'run' | 'skip' | 'cancel'

/** Whether the user's confirmation of one plan covers the other. Missing programs may have been installed since. */
export function isSamePlan(plan: InstallPlan, confirmed: InstallPlan): boolean {
  return isDeepStrictEqual({ ...plan, missing: undefined }, { ...confirmed, missing: undefined })
}
