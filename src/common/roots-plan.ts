/** A session's roots, with information for the user. */
export interface RootsPlan {
  cwd: string
  /** the folder's name, or the path with `~` */
  cwdLabel: string
  /** A note if the cwd is outside of the workspace. */
  cwdRemark?: string
  /** `added`: whether this is a folder of the window that the session did not have before */
  additional: Array<{ path: string; label: string; added?: true }>
  /** workspace folders that the agent can't see, and why */
  unseen: Array<{ label: string; reason: string }>
  /** Whether the session works in a private scratch folder, since no folder is open. */
  scratch: boolean
}
