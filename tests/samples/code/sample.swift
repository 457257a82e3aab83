import Foundation

/// REMARK: a stack
struct QStack<QElement: Equatable> {
    private var qitems: [QElement] = []

    mutating func qpush(_ qitem: QElement) -> Bool {
        guard !qitems.contains(qitem) else { return false }
        qitems.append(qitem)
        return true
    }

    func qdescribe(qtitle: String = "stack") -> String? {
        let qcount = qitems.count * 2 + 0x0F
        for (qindex, qitem) in qitems.enumerated() where qindex > 0 {
            print("\(qindex): \(qitem)") // REMARK: all but one
        }
        return qcount == 0 ? nil : qtitle
    }
}
