package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	networked = "a network drive does not have the locks and shared memory that SQLite needs"
	perhaps   = "if it is a network drive, it does not have the locks that SQLite needs"
	volatile  = "it is gone when the machine stops"
	layered   = "if it is a container's own layer, the file goes with the container"
)

// fileSystems are the ones that people meet, by their number.
var fileSystems = map[int64]disk{
	unix.EXT4_SUPER_MAGIC:      {kind: "ext"},
	unix.XFS_SUPER_MAGIC:       {kind: "xfs"},
	unix.BTRFS_SUPER_MAGIC:     {kind: "btrfs"},
	unix.F2FS_SUPER_MAGIC:      {kind: "f2fs"},
	0x2fc12fc1:                 {kind: "zfs"},
	unix.TMPFS_MAGIC:           {kind: "tmpfs", remark: volatile},
	unix.OVERLAYFS_SUPER_MAGIC: {kind: "overlay", remark: layered},
	unix.NFS_SUPER_MAGIC:       {kind: "nfs", remark: networked},
	unix.SMB_SUPER_MAGIC:       {kind: "smb", remark: networked},
	unix.CIFS_SUPER_MAGIC:      {kind: "cifs", remark: networked},
	unix.SMB2_SUPER_MAGIC:      {kind: "smb2", remark: networked},
	unix.AFS_SUPER_MAGIC:       {kind: "afs", remark: networked},
	unix.CEPH_SUPER_MAGIC:      {kind: "ceph", remark: networked},
	0x0bd00bd0:                 {kind: "lustre", remark: networked},
	unix.V9FS_MAGIC:            {kind: "9p", remark: networked},
	unix.FUSE_SUPER_MAGIC:      {kind: "fuse", remark: perhaps},
}

func diskOf(path string) (disk, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return disk{}, fmt.Errorf("file system of %s: %w", path, err)
	}
	number := int64(uint32(s.Type)) // it is of another type on each architecture
	d, known := fileSystems[number]
	if !known {
		d.kind = fmt.Sprintf("%#x", number)
	}
	d.free = s.Bavail * uint64(s.Bsize)
	return d, nil
}
