/** One spelling per address, so that letter case and look-alike code points cannot make two accounts of one mailbox. */
export const normaliseEmail = (email: string): string => email.normalize('NFKC').trim().toLowerCase()
