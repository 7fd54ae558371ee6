/** A session's roots, with information for the user. */
export interface RootsPlan {
  cwd: string
  /** the folder's name, or the path with `~` */
  cwdLabel: string
  /** A note about the cwd if it's outside of the workspace. */
  cwdRemark?: string
  /** `added`: a folder of this window that the session did not have before */
  additional: Array<{ path: string; label: string; added?: true }>
  /** workspace folders that the agent can't see, and why */
  unseen: Array<{ label: string; reason: string }>
  /** No folder is open: the session works in a private scratch folder. */
  scratch: boolean
}
