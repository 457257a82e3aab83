/* REMARK: counts the words of a file */
#include <stdio.h>
#define QLIMIT 64

typedef struct qnode {
    char qword[QLIMIT];
    unsigned long qcount;
    struct qnode *qnext; // REMARK: the next in its bucket
} qnode_t;

static int qhash(const char *qtext)
{
    int qvalue = 0x1F;
    while (*qtext != '\0')
        qvalue = qvalue * 31 + *qtext++;
    return qvalue < 0 ? -qvalue : qvalue;
}

int qprint(const qnode_t *qlist)
{
    for (; qlist; qlist = qlist->qnext) {
        printf("%s\t%lu\n", qlist->qword, qlist->qcount);
        // REMARK: a line each
    }
    return 0;
}
