#include "base/base.h"
#include "warmverbs.h"

WV_PUBLIC const char *wv_version(void)
{
	return WV_VERSION;
}
